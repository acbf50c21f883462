import type { PoolClient } from "pg";
import type { PgClientQuery, PgClientResult, WithPgClient } from "postgraphile/@dataplan/pg";
import type { NodePostgresPgClient } from "postgraphile/@dataplan/pg/adaptors/pg";
import * as library from "postgraphile/@dataplan/pg/adaptors/pg";
import { isConnectionBroken } from "../broken.ts";
import type { SharedPool } from "../shared-pool.ts";
import { runPipelined } from "./pipelined-query.ts";
import { withPlainIdentifiers } from "./plain-identifiers.ts";
import { canPrepareOn } from "./prepared-statements.ts";
import type { PgSettings } from "./settings.ts";

type Adaptor = Pick<typeof library, "createWithPgClient" | "makePgService">;

/**
 * How PostGraphile talks to Postgres. The library's own way takes four messages for each statement that it reads by:
 * BEGIN, the settings, the statement, COMMIT. This takes one.
 *
 * Each `query` is a transaction of its own. Several statements in one transaction go by `withTransaction`, which is
 * the library's.
 */
export function pipeliningAdaptor(pool: SharedPool): Adaptor {
  const withPgClient: WithPgClient<NodePostgresPgClient> = async (pgSettings, work) => {
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
  return {
    makePgService: library.makePgService,
    // Introspection is done by the library's own
    createWithPgClient: (options, variant) =>
      variant === "SUPERUSER" ? library.createWithPgClient(options, variant) : withPgClient,
  };
}

function pgClient(client: PoolClient, settings: PgSettings): NodePostgresPgClient {
  return {
    rawClient: client,
    query: <Row>(statement: PgClientQuery) =>
      runPipelined(client, settings, { ...statement, text: withPlainIdentifiers(statement.text) }) as Promise<
        PgClientResult<Row>
      >,
    withTransaction(work) {
      // In the library's words: a connection to do one transaction on
      const inTransaction = library.createWithPgClient({ poolClient: client });
      if (canPrepareOn(client)) return inTransaction(settings, work);
      return inTransaction(settings, (transaction) => {
        const query = <Row>(statement: PgClientQuery) =>
          transaction.query<Row>({ ...statement, name: undefined });
        return work({ ...transaction, query });
      });
    },
  };
}
