import { readFileSync } from "node:fs";

/** What ends a migration that isn't committed. */
export const finish = readFileSync(new URL("../../../db/finish.sql", import.meta.url), "utf8");
