// Checks the words of documents, of comments and of descriptions in the schema. Part of `npm run check`.
import { glob, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Program, run } from "../src/commands/program.ts";
import { descriptions, docComments, lineComments, sqlComments } from "./prose/comments.ts";
import type { Comment } from "./prose/comments.ts";
import { lintProse } from "./prose/lint.ts";
import type { Finding } from "./prose/lint.ts";
import type { ProseKind } from "./prose/rules.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const checked = [
  "*.md",
  "docs/**/*.md",
  "db/*.md",
  "examples/*/*.md",
  "{src,plugins,tools}/**/*.ts",
  "db/{fixtures,current}/**/*.sql",
  "db/schema.sql",
  "schema/unstable.graphql",
];
/** The list of words that we don't use, and rules with their examples of mistakes. */
const exemptDocuments = /^docs\/internals\/glossary\.md$/;

async function checkProse(paths: string[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const path of paths.length > 0 ? paths : await listFiles()) {
    for (const { rule, line, message } of await findMistakes(path)) {
      console.error(`${path}:${line}: ${message} (${rule})`);
      counts.set(rule, (counts.get(rule) ?? 0) + 1);
      process.exitCode = 1;
    }
  }
  for (const [rule, count] of counts) console.error(`${count} × ${rule}`);
}

async function listFiles(): Promise<string[]> {
  const paths: string[] = [];
  for await (const path of glob(checked, {
    cwd: root,
    exclude: ["node_modules", "examples/*/node_modules"],
  }))
    paths.push(path.replaceAll("\\", "/"));
  return paths.filter((path) => !exemptDocuments.test(path)).sort();
}

async function findMistakes(path: string): Promise<Finding[]> {
  const text = await readFile(resolve(root, path), "utf8");
  if (path.endsWith(".md")) return lintProse(text, "document");
  if (path.endsWith(".graphql")) return findInComments(text, descriptions(text), "comment");
  const comments = path.endsWith(".sql") ? sqlComments(text) : docComments(text);
  return [
    ...(await findInComments(text, comments, "comment")),
    ...(await findInComments(text, lineComments(text), "document")),
  ];
}

async function findInComments(source: string, comments: Comment[], kind: ProseKind): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const { begin, text } of comments)
    for (const finding of await lintProse(text, kind)) {
      const linesBefore = source.slice(0, begin).split("\n").length - 1;
      found.push({ ...finding, line: linesBefore + finding.line });
    }
  return found;
}

const program = new Program("check-prose").description(
  "Checks documents, comments and descriptions for long sentences, and for expressions that have a better one.",
);
program
  .argument("[files...]", "Markdown, TypeScript, SQL or SDL, relative to the project; all if omitted")
  .action(checkProse);
await run(program);
