// Checks the prose of documents and, with --comments, of comments. Part of `npm run check`.
import { glob, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Program, run } from "../src/commands/program.ts";
import { docComments, sqlComments } from "./prose/comments.ts";
import { lintProse } from "./prose/lint.ts";
import type { Finding } from "./prose/lint.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const documents = ["*.md", "docs/**/*.md", "db/*.md", "examples/*/*.md"];
/** Documents whose text comes from comments and settings, and the list of words that we don't use. */
const exempt = /^docs\/(events\/|reference\/(data-model|settings)\.md$|internals\/glossary\.md$)/;
/** Tables whose text comes from code. */
const generatedTable = /<!-- (?!end|oxfmt)[a-z]+ -->[\s\S]*?<!-- end -->/g;
const code = ["{src,plugins,tools}/**/*.ts", "db/{fixtures,current}/**/*.sql"];

async function checkProse(paths: string[], { comments }: { comments?: true }): Promise<void> {
  const counts = new Map<string, number>();
  for (const path of paths.length > 0 ? paths : await filesOf(comments ? code : documents)) {
    for (const { rule, line, message } of await findingsIn(path)) {
      console.error(`${path}:${line}: ${message} (${rule})`);
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
      process.exitCode = 1;
    }
  }
  for (const [rule, count] of counts) console.error(`${count} × ${rule}`);
}

async function filesOf(patterns: string[]): Promise<string[]> {
  const paths: string[] = [];
  for await (const path of glob(patterns, {
    cwd: root,
    exclude: ["node_modules", "examples/*/node_modules"],
  }))
    paths.push(path.replaceAll("\\", "/"));
  return paths.filter((path) => !exempt.test(path)).sort();
}

async function findingsIn(path: string): Promise<Finding[]> {
  const text = await readFile(resolve(root, path), "utf8");
  if (path.endsWith(".md")) {
    const written = text.replace(generatedTable, (table) => table.replace(/[^\n]/g, ""));
    return lintProse(written, "document");
  }
  const comments = path.endsWith(".sql") ? sqlComments(text) : docComments(text);
  const findings = await Promise.all(
    comments.map(async (comment) =>
      (await lintProse(comment.text, "comment")).map((finding) => ({
        ...finding,
        line: comment.line + finding.line - 1,
      })),
    ),
  );
  return findings.flat();
}

const program = new Program("check-prose").description(
  "Checks the words of documents: long sentences, and expressions that have a better one.",
);
program
  .argument("[files...]", "Markdown, TypeScript or SQL, relative to the project; all documents if omitted")
  .option("--comments", "check doc comments and SQL comments instead of documents")
  .action(checkProse);
await run(program);
