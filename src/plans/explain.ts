import type { ClientBase, DatabaseError } from "pg";
import { loadParser } from "../postgres/parser.ts";

/** A node of a plan, as `explain (format json)` prints it. */
export interface PlanNode {
  "Node Type": string;
  "Total Cost": number;
  "Parent Relationship"?: string;
  "Subplan Name"?: string;
  "Index Cond"?: string;
  "Recheck Cond"?: string;
  "Relation Name"?: string;
  Schema?: string;
  Alias?: string;
  Filter?: string;
  Plans?: PlanNode[];
}

const errorCode = (error: unknown) => (error as DatabaseError).code;

/** Runs work and rolls its changes back, also within a transaction. */
export async function withRollback<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  const isWithin = await client.query("savepoint planning").then(
    () => true,
    (error: unknown) => {
      // no_active_sql_transaction
      if (errorCode(error) !== "25P01") throw error;
      return false;
    },
  );
  if (!isWithin) await client.query("begin");
  try {
    return await work();
  } finally {
    await client.query(isWithin ? "rollback to savepoint planning; release savepoint planning" : "rollback");
  }
}

/**
 * Returns all nodes of the plan by which Postgres would run a query if it had to use indexes, whatever the size of the tables.
 *
 * @param role the role whose policies apply; by default the owner, who has none
 * @returns null when the role has no rights yet, because the rest of the migration is missing
 */
export async function planWithIndexes(
  client: ClientBase,
  query: string,
  role?: "service_api",
): Promise<PlanNode[] | null> {
  try {
    return await withRollback(client, async () => {
      await client.query(
        `set local enable_seqscan = off; set local enable_sort = off; ${settings} ${role ? `set local role ${role}` : ""}`,
      );
      return [...listNodes(await explain(client, query))];
    });
  } catch (error) {
    // insufficient_privilege
    if (errorCode(error) === "42501") return null;
    throw error;
  }
}

// A caller's settings: Postgres may read them for its estimates
const settings =
  "set local search_path = pg_catalog; set local service.scopes = ''; set local service.locale = '';";

/** Refuses all but one query: the protocol in which statements with parameters can be explained takes several at once. */
async function requireOneQuery(text: string): Promise<void> {
  const { parseSync } = await loadParser();
  const { stmts = [] } = parseSync(text);
  const [only] = stmts;
  if (stmts.length !== 1 || !("SelectStmt" in only!.stmt!)) throw new Error("Only one query is explained.");
}

async function explain(client: ClientBase, query: string): Promise<PlanNode> {
  await requireOneQuery(query);
  const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `explain (format json, generic_plan, verbose) ${query}`,
  );
  return rows[0]!["QUERY PLAN"][0].Plan;
}

/** Returns how Postgres runs a statement of the API for any values: its plan as text, and the cost that it expects. */
export function genericPlan(client: ClientBase, statement: string): Promise<{ text: string; cost: number }> {
  return withRollback(client, async () => {
    await client.query(`${settings} set local role service_api`);
    const plan = await explain(client, statement);
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain (generic_plan) ${statement}`);
    return { text: rows.map((row) => row["QUERY PLAN"]).join("\n"), cost: plan["Total Cost"] };
  });
}

function* listNodes(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const below of node.Plans ?? []) yield* listNodes(below);
}

/** Whether an index finds the rows of a condition with the parameter $1. */
export const usesIndex = (plan: readonly PlanNode[]): boolean =>
  plan.some((node) => /\$1\b/.test(`${node["Index Cond"]} ${node["Recheck Cond"]}`));

/** Whether a plan sorts rows. */
export const sortsRows = (plan: readonly PlanNode[]): boolean =>
  plan.some((node) => /Sort/.test(node["Node Type"]));
