import type { PoolClient } from "pg";
import type { PgClientQuery, PgClientResult, WithPgClient } from "postgraphile/@dataplan/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import * as library from "postgraphile/@dataplan/pg/adaptors/pg";
import { isConnectionBroken } from "../broken.ts";
import { withRetries } from "../repeating.ts";
import type { Connections } from "../shared-pool.ts";
import { runPipelined } from "./pipelined-query.ts";
import { canPrepare } from "./prepared-statements.ts";
import type { PgSettings } from "./transaction-settings.ts";

type Adaptor = Pick<typeof library, "createWithPgClient" | "makePgService">;

/**
 * Returns PostGraphile's adaptor for Postgres. The library's own sends four messages for each reading statement: BEGIN, the
 * settings, the statement, COMMIT. This one sends a single message.
 *
 * Each `query` is its own transaction. Several statements in one transaction use `withTransaction`, which is the
 * library's.
 */
export function pipeliningAdaptor(pool: Connections): Adaptor {
  const once: WithPgClient<NodePostgresPgClient> = async (pgSettings, work) => {
    const { connection, release } = await pool.connection(pgSettings?.["service.credential_id"] ?? "");
    let failure: unknown;
    try {
      return await work(pgClient(connection, pgSettings));
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      release(isConnectionBroken(failure));
    }
  };
  const withPgClient = withRetries(once);
  return {
    makePgService: library.makePgService,
    // The library itself reads the catalog
    createWithPgClient: (options, variant) =>
      variant === "SUPERUSER" ? library.createWithPgClient(options, variant) : withPgClient,
  };
}

function pgClient(client: PoolClient, settings: PgSettings): NodePostgresPgClient {
  return {
    rawClient: client,
    query: <Row>(statement: PgClientQuery) =>
      runPipelined(client, settings, {
        ...statement,
        text: keepIdsSeparate(statement.text),
      }) as Promise<PgClientResult<Row>>,
    withTransaction(work) {
      // The library's name for a connection for one transaction
      const inTransaction = library.createWithPgClient({ poolClient: client });
      if (canPrepare(client)) return inTransaction(settings, work);
      return inTransaction(settings, (transaction) => {
        const query = <Row>(statement: PgClientQuery) =>
          transaction.query<Row>({ ...statement, name: undefined });
        return work({ ...transaction, query });
      });
    },
  };
}

const identifiers = /(json_array_elements\(\$\d+::json\) with ordinality as ids)\)/g;

/**
 * Makes lookups of several rows use an index despite row-level security.
 *
 * PostGraphile compares a column with `(ids.value->>0)::uuid`. Neither `->>` nor the cast is leakproof, so Postgres
 * must check the policy of every row before it may compare: it reads the whole table. `offset 0` keeps it from moving
 * the expression into the comparison, which then compares two uuids, and that is leakproof.
 */
function keepIdsSeparate(text: string): string {
  return text.replace(identifiers, "$1 offset 0)");
}
