// Settings of graphile-migrate, for those who use it directly: db/README.md says more.
export { default } from "./src/commands/graphile-migrate/settings.ts";
