// PostGraphile's libraries ask for this when they are loaded, so it is imported before them. Their development mode
// checks our own plans at every request; the tests run in it.
process.env.GRAPHILE_ENV ??= "production";
