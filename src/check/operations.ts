import { readdir, readFile } from "node:fs/promises";
import type { GraphQLSchema } from "graphql";
import { buildSchema, Kind, parse, validate } from "graphql";
import type { Place } from "./finding.ts";

/** A GraphQL operation that somebody relies on, with where it is written. */
export interface StoredOperation extends Place {
  text: string;
}

const root = new URL("../../", import.meta.url);
const folders = ["docs", "examples", "test", "README.md"];
/** Blocks of guides, and texts of programs that nothing is put into. */
const patterns: Record<string, RegExp> = {
  md: /```graphql\n([^]*?)```/g,
  ts: /[`"']((?:\{|query\b|mutation\b)[^`"'$]*\})[`"']/g,
};

/** The operations of guides, examples and tests. */
export async function readOperations(): Promise<StoredOperation[]> {
  const files = (await Promise.all(folders.map(filesIn))).flat();
  const found = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(new URL(file, root), "utf8");
      const pattern = patterns[file.split(".").at(-1)!]!;
      return [...text.matchAll(pattern)].map(({ 1: operation, index }) => ({
        ...{ file, line: text.slice(0, index).split("\n").length, text: operation! },
      }));
    }),
  );
  return found.flat();
}

async function filesIn(folder: string): Promise<string[]> {
  if (folder.includes(".")) return [folder];
  const names = await readdir(new URL(folder, root), { recursive: true }).catch(() => []);
  return names
    .filter((name) => /\.(md|ts)$/.test(name) && !name.includes("node_modules"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

/** An operation that a change of the API breaks. */
export interface BrokenOperation extends Place {
  reason: string;
}

/** Operations that one schema takes, and another one doesn't. */
export function brokenOperations(
  operations: readonly StoredOperation[],
  before: string,
  after: string,
): BrokenOperation[] {
  const [old, next] = [buildSchema(before), buildSchema(after)];
  return operations.flatMap(({ file, line, text }) => {
    if (faultOf(old, text) !== null) return [];
    const reason = faultOf(next, text);
    return reason === null ? [] : [{ file, line, reason }];
  });
}

/** Why a schema doesn't take an operation; null when it does. */
function faultOf(schema: GraphQLSchema, text: string): string | null {
  try {
    const document = parse(text);
    if (!document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)) return "no operation";
    return validate(schema, document)[0]?.message ?? null;
  } catch (error) {
    return (error as Error).message;
  }
}
