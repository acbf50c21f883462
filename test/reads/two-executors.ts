import type pg from "pg";
import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafast } from "postgraphile/grafast";
import type { ExecutionResult, GraphQLSchema } from "postgraphile/graphql";
import { createPreset } from "../../plugins/index.ts";
import { SharedPool } from "../../src/postgres/shared-pool.ts";
import { pipeliningAdaptor } from "../../src/postgres/pipeline/adaptor.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { openTestDatabase } from "../lib/database.ts";

/** A version of the API on the demonstration data, with both executors. */
export interface TwoExecutors {
  schema: GraphQLSchema;
  /** The schema whose reads SQL answers. */
  sqlSchema: GraphQLSchema;
  allScopes: string[];
  /** By one SQL statement if possible. */
  bySql(request: ReadRequest): Promise<ReadAnswer>;
  /** By Grafast. */
  byGrafast(request: ReadRequest): Promise<ReadAnswer>;
  pool: pg.Pool;
  close(): Promise<void>;
}

export interface ReadRequest {
  source: string;
  variables?: Record<string, unknown> | null;
  operationName?: string;
  locale?: string;
  /** Scopes of the token; by default all. */
  scopes?: string[];
  /** Scopes for row-level security; by default those of the token. */
  rowScopes?: string[];
}

export interface ReadAnswer {
  /** As the client gets it. */
  text: string;
  data: any;
  errors: { message: string; code: unknown; path: unknown; locations: unknown }[];
  /** Whether one statement answered it. */
  isBySql: boolean;
}

/**
 * An answer without the open transactions in its cursors: transactions of other databases count too, and change while
 * other tests run.
 */
export const withoutOpen = (text: string | undefined): string | undefined =>
  text?.replace(/"[A-Za-z0-9_-]{60,}"/g, (quoted) => {
    const says = Buffer.from(quoted.slice(1, -1), "base64url").toString();
    const [cursor, position] = /^(\w+\.\w+:[^:]+):[0-9a-f]{8}$/.exec(says) ?? [];
    return cursor === undefined ? quoted : JSON.stringify(position!.replace(/~[^/]*/g, ""));
  });

/** Opens a version on a separate database. */
export async function openTwoExecutors(
  schemaName: string,
  { sql = "", plugins = [] }: { sql?: string; plugins?: GraphileConfig.Plugin[] } = {},
): Promise<TwoExecutors> {
  const database = await openTestDatabase("template_demo");
  const pool = createPool(database.loginUrl, { max: 4 });
  const { default: driver } = await import("pg");
  const owner = new driver.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const { rows } = await owner.query("select array(select * from auth.known_scopes()) as scopes");
  if (sql) await owner.query(sql);
  await owner.end();
  const executors = await makeTwoExecutors(pool, schemaName, { allScopes: rows[0].scopes, plugins });
  return {
    ...executors,
    pool,
    async close() {
      await pool.end();
      await database.close();
    },
  };
}

/** A version over a database that is there, with both executors. */
export async function makeTwoExecutors(
  pool: pg.Pool,
  schemaName: string,
  {
    allScopes,
    plugins = [],
    role = "service_api",
  }: { allScopes: string[]; plugins?: GraphileConfig.Plugin[]; role?: string },
): Promise<Omit<TwoExecutors, "pool" | "close">> {
  const pgService = {
    ...makePgService({ pool, pubsub: false }),
    adaptor: pipeliningAdaptor(new SharedPool(pool)),
  };
  const make = (fastReads: boolean) =>
    makeSchema({
      extends: [createPreset({ pgService, schemaName, fastReads })],
      plugins,
      grafast: { context: (request) => (request as unknown as { caller: object }).caller },
    });
  const [bySql, byGrafast] = [await make(true), await make(false)];

  const run = async ({ schema, resolvedPreset }: typeof bySql, request: ReadRequest): Promise<ReadAnswer> => {
    const { source, variables = null, operationName = null, locale = "en-GB", scopes = allScopes } = request;
    const { rowScopes = scopes } = request;
    const pgSettings = { role, "service.scopes": rowScopes.join(" "), "service.locale": locale };
    let readBy: string | undefined;
    const onRead = (executor: string) => void (readBy = executor);
    const caller = { scopes: new Set(scopes), requestId: "test", credentialId: null, pgSettings, onRead };
    const requestContext = { caller } as object;
    const result = (await grafast({
      schema,
      source,
      resolvedPreset,
      requestContext,
      variableValues: variables,
      operationName,
    })) as ExecutionResult;
    const errors = (result.errors ?? []).map((error) => {
      const { message, path, locations, extensions } = error.toJSON();
      return { message, path, locations, code: extensions?.code };
    });
    const text = JSON.stringify(result.data);
    return {
      text,
      data: JSON.parse(text ?? "null"),
      errors,
      isBySql: readBy === "sql",
    };
  };
  return {
    schema: byGrafast.schema,
    sqlSchema: bySql.schema,
    allScopes,
    bySql: (request) => run(bySql, request),
    byGrafast: (request) => run(byGrafast, request),
  };
}
