// A thread that finds out what a change of the database means for whom, so that requests needn't wait for that.
import "../../process/graphile-env.ts";
import { readFile } from "node:fs/promises";
import { parentPort, workerData } from "node:worker_threads";
import { diff } from "@graphql-inspector/core";
import { makePgService } from "postgraphile/adaptors/pg";
import type { GraphQLSchema } from "postgraphile/graphql";
import { buildSchema } from "postgraphile/graphql";
import { check } from "../../check/check.ts";
import type { Finding } from "../../check/finding.ts";
import type { BrokenOperation } from "../../check/operations.ts";
import { brokenOperations, readOperations, readPayloadQueries } from "../../check/operations.ts";
import { withClient } from "../../database/client.ts";
import { printVersion } from "../../versions/sdl.ts";
import { versions } from "../../versions/versions.ts";

/** What the thread is told at its beginning. */
export interface StudyData {
  /** The database, as its owner. */
  ownerUrl: string;
}

/** What is to be found out: what has changed since the question before. */
export interface Question {
  /** What the catalog has about the head, where that is known. */
  catalog: string | null;
}

/** A change of the API. */
export interface ApiChange {
  kind: "gained" | "lost" | "changed";
  text: string;
}

export interface Answer {
  changes: ApiChange[];
  /** Operations that the committed schema accepts and the present one doesn't. */
  broken: BrokenOperation[];
  findings: Finding[];
  /** What could not be found out. */
  troubles: string[];
}

const { ownerUrl } = workerData as StudyData;
const head = versions.find(({ kind }) => kind === "floating")!;
const committed = new URL(`../../../schema/${head.slug}.graphql`, import.meta.url);
const pgService = makePgService({ connectionString: ownerUrl, pubsub: false });
let before: GraphQLSchema | null = null;

parentPort!.on("message", (question: Question) => void answer(question));

async function answer({ catalog }: Question): Promise<void> {
  const troubles: string[] = [];
  const orTell = async <T>(what: string, work: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      troubles.push(`${what}: ${(error as Error).message}`);
      return otherwise;
    }
  };
  const findings = await orTell(
    "The check could not be run",
    withClient(ownerUrl, (client) => check(client)),
    [],
  );
  const after = await orTell("The API could not be compared", schemaOf(catalog), null);
  const changes =
    after && before ? await orTell("The API could not be compared", changesOf(before, after), []) : [];
  const broken = after ? await orTell("Operations could not be tried", brokenBy(after), []) : [];
  before = after ?? before;
  parentPort!.postMessage({ changes, broken, findings, troubles } satisfies Answer);
}

async function schemaOf(catalog: string | null): Promise<GraphQLSchema> {
  const known = catalog === null ? undefined : () => Promise.resolve(catalog);
  // As it is printed, so that required scopes are compared, too
  return buildSchema(await printVersion(head, pgService, known), { assumeValid: true });
}

async function changesOf(old: GraphQLSchema, now: GraphQLSchema): Promise<ApiChange[]> {
  return (await diff(old, now)).map(({ type, message, path }) => {
    const name = String(type);
    const kind = name.endsWith("_ADDED") ? "gained" : name.endsWith("_REMOVED") ? "lost" : "changed";
    return { kind, text: path === undefined || message.includes(path) ? message : `${path}: ${message}` };
  });
}

async function brokenBy(now: GraphQLSchema): Promise<BrokenOperation[]> {
  const known = buildSchema(await readFile(committed, "utf8"), { assumeValid: true });
  const stored = await withClient(ownerUrl, readPayloadQueries);
  return brokenOperations([...stored, ...(await readOperations())], known, now);
}
