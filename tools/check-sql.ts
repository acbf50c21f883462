import { readdir, readFile } from "node:fs/promises";
import { atTheCommandLine } from "../src/commands/command-line.ts";
import { styleFaults } from "./sql-style.ts";

const db = new URL("../db/", import.meta.url);
/** Generated files. */
const generated = /^(committed\/|schema\.sql$)/;

const usage = `Checks the style of the SQL in db/: lengths of lines and functions, indentation, lower case.

Usage: npm run check:sql
`;

await atTheCommandLine({ usage }, async () => {
  const files = (await readdir(db, { recursive: true }))
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".sql") && !generated.test(name))
    .sort();
  for (const name of files) {
    for (const { line, reason } of styleFaults(await readFile(new URL(name, db), "utf8"))) {
      console.error(`db/${name}:${line}: ${reason}`);
      process.exitCode = 1;
    }
  }
});
