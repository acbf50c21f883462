// Looks for secrets, such as keys and passwords, in the files that would be committed. Part of `npm run check`.
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createEngine } from "@secretlint/node";
import { Program, run } from "../src/commands/program.ts";

/** Folders and files to skip: those in .gitignore. */
const skippedNames = new Set(["node_modules", ".git", ".data", ".env"]);
const binary = new Set([".png"]);

const root = fileURLToPath(new URL("../", import.meta.url));

async function findSecrets(folder: string): Promise<void> {
  const engine = await createEngine({
    configFilePath: join(root, ".secretlintrc.json"),
    formatter: "stylish",
    color: false,
    maskSecrets: true,
  });
  let count = 0;
  for await (const path of filesIn(folder)) {
    const { ok, output } = await engine.executeOnContent({
      content: await readFile(path, "utf8"),
      filePath: relative(folder, path),
    });
    count++;
    if (ok) continue;
    console.error(output.trim());
    process.exitCode = 1;
  }
  if (process.exitCode !== 1) console.log(`No secrets in ${count} files.`);
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (skippedNames.has(entry.name) || binary.has(extname(entry.name))) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

const program = new Program("find-secrets").description(
  "Looks for secrets in files that would be committed.",
);
program.argument("[folder]", "where", root).action((folder) => findSecrets(resolve(folder)));
await run(program);
