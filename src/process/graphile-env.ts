// PostGraphile's libraries read this when they are loaded, so it is imported before them. Their development mode checks
// our plans at every request; the tests use it.
process.env.GRAPHILE_ENV ??= "production";
// The pool has already switched JIT off (src/postgres/pool.ts). The library would do so again on each connection.
process.env.DATAPLAN_PG_DONT_DISABLE_JIT ??= "1";
