import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafast } from "postgraphile/grafast";
import type { ExecutionResult, GraphQLSchema } from "postgraphile/graphql";
import { createPreset } from "../../plugins/index.ts";
import { openTestDatabase } from "../lib/database.ts";

/** The shop of sample.sql, in a separate database, with its schema. */
export interface Sample {
  schema: GraphQLSchema;
  /** Runs an operation as a caller with scopes; by default with all of the sample's. */
  run(source: string, options?: RunOptions): Promise<SampleAnswer>;
  /** The number of plans that all operations together needed. */
  plans: ReadonlySet<object>;
  /** SQL as the owner. */
  sql(text: string): Promise<pg.QueryResult>;
  close(): Promise<void>;
}

export interface RunOptions {
  variables?: Record<string, unknown>;
  scopes?: string[];
  operationName?: string;
  /** Settings of the transaction, beside the role and the scopes. */
  settings?: Record<string, string>;
}

export interface SampleAnswer {
  data: any;
  errors: { message: string; code: unknown; path: string | undefined; extensions: Record<string, unknown> }[];
  /** The SQL statements that it took, without those that begin and end the transaction. */
  statements: string[];
}

export const allScopes = [
  ..."countries currencies tags products batches locations audits".split(" ").map((name) => `${name}:read`),
  "margins:read",
];

/** Id of a row of the sample: see the function sample.id there. */
export function sampleGid(typeName: string, number: number): string {
  const kinds = ["Currency", "Country", "Tag", "Product", "Batch", "Location"];
  const kind = typeName in { ReturnOrder: 1 } ? 9 : kinds.indexOf(typeName) + 1;
  return `gid://service/${typeName}/01980000-0000-7000-${8000 + kind}-${String(number).padStart(12, "0")}`;
}

/**
 * Makes the sample database and its schema.
 *
 * @param sql statements that change the database before the schema is made
 */
export async function openSample({ sql = "" }: { sql?: string } = {}): Promise<Sample> {
  const database = await openTestDatabase("template0");
  const pool = new pg.Pool({ connectionString: database.adminUrl, max: 4 });
  const statements: string[] = [];
  pool.on("error", () => {}); // the database may be dropped before its connections are closed
  pool.on("connect", (client) => recordStatements(client, statements));
  await pool.query(await readFile(new URL("sample.sql", import.meta.url), "utf8"));

  if (sql) await pool.query(sql);
  const close = async () => {
    await pool.end();
    await database.close();
  };
  const pgService = makePgService({ pool, schemas: ["sample_api"] });
  const plans = new Set<object>();
  const countPlans: GraphileConfig.Plugin = {
    name: "CountPlansPlugin",
    version: "1.0.0",
    grafast: {
      middleware: {
        establishOperationPlan(next) {
          const plan = next();
          plans.add(plan);
          return plan;
        },
      },
    },
  };
  const make = (fastReads: boolean) =>
    makeSchema({
      extends: [createPreset({ pgService, schemaName: "sample_api", fastReads })],
      plugins: fastReads ? [] : [countPlans],
      grafast: { context: (request) => (request as unknown as { caller: object }).caller },
    });
  const both = Promise.all([make(false), make(true)]);
  both.catch(close);
  const [usual, short] = await both;

  return {
    schema: usual.schema,
    plans,
    async run(source, { variables, scopes = allScopes, operationName, settings } = {}) {
      statements.length = 0;
      const pgSettings = { role: "plugin_sample_caller", "service.scopes": scopes.join(" "), ...settings };
      const caller = { scopes: new Set(scopes), requestId: "test", credentialId: null, pgSettings };
      const answer = async ({ schema, resolvedPreset }: typeof usual) =>
        (await grafast({
          schema,
          source,
          resolvedPreset,
          requestContext: { caller } as object,
          variableValues: variables ?? null,
          operationName: operationName ?? null,
        })) as ExecutionResult;
      const result = await answer(usual);
      const needed = [...statements];
      // Every test of answers covers the path by one statement too (src/reads)
      assert.deepEqual(JSON.stringify(await answer(short)), JSON.stringify(result));
      const errors = (result.errors ?? []).map(({ message, extensions, path }) => {
        return { message, code: extensions.code, path: path?.join("."), extensions };
      });
      // Through JSON, as a client sees it.
      return { data: JSON.parse(JSON.stringify(result.data ?? null)), errors, statements: needed };
    },
    sql: (text) => pool.query(text),
    close,
  };
}

function recordStatements(client: pg.PoolClient, statements: string[]): void {
  client.on("error", () => {});
  const { query } = client;
  client.query = function (this: unknown, config: string | { text: string }, ...rest: unknown[]) {
    const text = typeof config === "string" ? config : config.text;
    if (!/^\s*(begin|commit|rollback|deallocate|select set_config|set jit)/i.test(text))
      statements.push(text);
    return Reflect.apply(query, this, [config, ...rest]);
  } as typeof client.query;
}
