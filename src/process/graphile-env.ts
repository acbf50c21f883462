// PostGraphile's libraries read these variables when they are loaded, so import this module before them. Their
// development mode, which the tests use, checks our plans at every request.
process.env.GRAPHILE_ENV ??= "production";
// The pool already switches JIT off (src/postgres/pool.ts). The library would do so again on each connection.
process.env.DATAPLAN_PG_DONT_DISABLE_JIT ??= "1";
