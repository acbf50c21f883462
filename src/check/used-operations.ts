import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { GraphQLSchema } from "graphql";
import { Kind, parse, validate } from "graphql";
import type { ClientBase } from "pg";

/** The source of an operation: a file, relative to the project's root, and a line; or a description without a line. */
interface OperationPlace {
  file: string;
  line: number | null;
}

/** A GraphQL operation that somebody relies on. */
export interface KnownOperation extends OperationPlace {
  text: string;
}

const root = new URL("../../", import.meta.url);
const folders = ["README.md", "docs", "examples", "test", "bench/queries"];
/** Patterns for code blocks in guides, strings without placeholders in programs, and whole files. */
const patterns: Record<string, RegExp> = {
  ".md": /```graphql\n([^]*?)```/dg,
  ".ts": /`\s*((?:query\b|mutation\b|\{)(?:[^`$]|\$(?!\{))*)`|"((?:query\b|mutation\b|\{)[^"\n]*\})"/dg,
  ".graphql": /^([^]+)$/dg,
};

/** Reads the operations in guides, examples, tests and benchmarks. */
export async function readProjectOperations(): Promise<KnownOperation[]> {
  const files = (await Promise.all(folders.map(filesIn))).flat();
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, root), "utf8");
      return [...text.matchAll(patterns[extname(file)]!)].map(({ indices }): KnownOperation => {
        const [from, to] = (indices![1] ?? indices![2])!;
        return { file, line: text.slice(0, from).split("\n").length, text: text.slice(from, to) };
      });
    }),
  );
  return found.flat();
}

/** Reads operations of `unstable` from the database: payload queries of webhooks, and stored operations. */
export async function readStoredOperations(client: ClientBase): Promise<KnownOperation[]> {
  const { rows } = await client.query<{ file: string; text: string }>(
    `(select format('webhook subscription %s to %s', id, topic) as file, payload_query as text
      from events.webhook_subscription where payload_query is not null and api_version = 'unstable' order by id)
     union all
     (select format('stored operation %s of %s (%s…)', o.name, coalesce(c.name, 'all credentials'),
        left(encode(o.sha256, 'hex'), 12)), o.document
      from auth.stored_operation o left join auth.credential c on c.id = o.credential_id
      where o.version = 'unstable' order by o.name, o.sha256, c.name)`,
  );
  return rows.map((row) => ({ ...row, line: null }));
}

async function filesIn(folder: string): Promise<string[]> {
  if (folder.includes(".")) return [folder];
  const names = await readdir(new URL(folder, root), { recursive: true }).catch(() => []);
  return names
    .filter((name) => Object.hasOwn(patterns, extname(name)) && !name.includes("node_modules"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

/** An operation that a change of the API breaks. */
export interface BrokenOperation extends OperationPlace {
  reason: string;
}

/** Lists operations that are valid in one schema and invalid in the other. */
export function findBrokenOperations(
  operations: readonly KnownOperation[],
  before: GraphQLSchema,
  after: GraphQLSchema,
): BrokenOperation[] {
  return operations.flatMap(({ file, line, text }) => {
    if (findFault(before, text) !== null) return [];
    const reason = findFault(after, text);
    return reason === null ? [] : [{ file, line, reason }];
  });
}

/** Returns why an operation is invalid in a schema; null when it is valid. */
function findFault(schema: GraphQLSchema, text: string): string | null {
  try {
    const document = parse(text, { noLocation: true });
    if (!document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)) return "no operation";
    return validate(schema, document, undefined, { maxErrors: 1 })[0]?.message ?? null;
  } catch (error) {
    return (error as Error).message;
  }
}
