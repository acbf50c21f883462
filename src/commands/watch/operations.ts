import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ClientBase } from "pg";
import type { DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import { parse, validate } from "postgraphile/graphql";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** An operation that somebody relies on. */
export interface Operation {
  /** Where it is, in words: a file with its line, or a subscription. */
  place: string;
  document: DocumentNode;
}

/** An operation that doesn't work any more. */
export interface BrokenOperation {
  place: string;
  /** What is wrong with it. */
  reason: string;
}

/** What holds operations in files: blocks of GraphQL in guides, and texts of programs that begin like one. */
const holders: [ending: string, pattern: RegExp][] = [
  [".md", /```graphql\n([^]*?)```/g],
  [".ts", /`(\s*(?:query\b|mutation\b|\{)[^`$]*)`|"((?:query\b|mutation\b|\{)[^"\n$]*\})"/g],
  [".graphql", /^([^]+)$/g],
];

/** Operations of guides, tests, measurements and examples. */
export async function operationsOfFiles(): Promise<Operation[]> {
  const folders = ["docs", "test", "bench/queries", "examples"];
  const names = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(join(root, folder), { recursive: true }).catch(() => [])).map((name) =>
        join(folder, name),
      ),
    ),
  );
  const found = ["README.md", ...names.flat()].map(async (file) => {
    const [, pattern] = holders.find(([ending]) => file.endsWith(ending)) ?? [];
    return pattern === undefined || file.includes("node_modules") ? [] : operationsIn(file, pattern);
  });
  return (await Promise.all(found)).flat();
}

async function operationsIn(file: string, pattern: RegExp): Promise<Operation[]> {
  const text = await readFile(join(root, file), "utf8").catch(() => "");
  return [...text.matchAll(pattern)].flatMap((match) => {
    const line = text.slice(0, match.index).split("\n").length + (file.endsWith(".md") ? 1 : 0);
    const document = parsed(match[1] ?? match[2]!);
    return document === null ? [] : [{ place: `${file.replaceAll("\\", "/")}:${line}`, document }];
  });
}

/** Payload queries of subscriptions to events, by the version that they ask. */
export async function operationsStored(client: ClientBase, version: string): Promise<Operation[]> {
  const { rows } = await client.query<{ id: string; topic: string; payload_query: string }>(
    "select id, topic, payload_query from events.webhook_subscription where payload_query is not null and api_version = $1",
    [version],
  );
  return rows.flatMap(({ id, topic, payload_query: text }) => {
    const document = parsed(text);
    return document === null ? [] : [{ place: `webhook subscription ${id} to ${topic}`, document }];
  });
}

/** Null for what only looks like an operation. */
function parsed(text: string): DocumentNode | null {
  try {
    return parse(text, { noLocation: true });
  } catch {
    return null;
  }
}

/** Which operations a schema refuses that another accepted. */
export function brokenOperations(
  before: GraphQLSchema,
  after: GraphQLSchema,
  operations: readonly Operation[],
): BrokenOperation[] {
  return operations.flatMap(({ place, document }) => {
    const [error] = validate(after, document, undefined, { maxErrors: 1 });
    if (error === undefined || validate(before, document, undefined, { maxErrors: 1 }).length > 0) return [];
    return [{ place, reason: error.message }];
  });
}
