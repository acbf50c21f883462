// The door to what graphile-migrate has and doesn't export, as seen in 2.0.0-rc.3: its files, hashes and headers, without
// the connections of its commands. Nothing else in src imports of its inside; test/migrations/graphile-migrate-private.test.ts fails
// when an upgrade changes it. docs/internals/upstream.md says what would do instead.
export { getCurrentMigrationLocation, writeCurrentMigration } from "graphile-migrate/dist/current.js";
export { calculateHash } from "graphile-migrate/dist/hash.js";
export {
  compileIncludes,
  compilePlaceholders,
  getAllMigrations,
  getLastMigration,
  getMigrationsAfter,
  parseMigrationText,
  serializeMigration,
} from "graphile-migrate/dist/migration.js";
export type { FileMigration } from "graphile-migrate/dist/migration.js";
export { parseSettings } from "graphile-migrate/dist/settings.js";
export type { ParsedSettings } from "graphile-migrate/dist/settings.js";
export { sluggify } from "graphile-migrate/dist/sluggify.js";
