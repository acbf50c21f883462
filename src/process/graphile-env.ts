// PostGraphile's libraries ask for this when they are loaded, so it is imported before them. Their development mode
// checks our own plans at every request; the tests run in it.
process.env.GRAPHILE_ENV ??= "production";
// The pool has switched JIT off already (src/database/pool.ts). The library would do it again on each connection.
process.env.DATAPLAN_PG_DONT_DISABLE_JIT ??= "1";
