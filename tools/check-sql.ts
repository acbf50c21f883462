import { readdir, readFile } from "node:fs/promises";
import { Program, run } from "../src/commands/program.ts";
import { styleFaults } from "./sql-style.ts";

const db = new URL("../db/", import.meta.url);
/** Generated files. */
const generated = /^(committed\/|schema\.sql$)/;

async function checkSql(): Promise<void> {
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
}

const program = new Program("check-sql").description(
  "Checks the style of the SQL in db/: lengths of lines and functions, indentation, lower case.",
);
await run(program.action(checkSql));
