import type { ClientBase } from "pg";
import type { Finding } from "../finding.ts";
import type { Source } from "../source.ts";
import { isByIndex, isSorted, planOf } from "../../plans/explain.ts";
import type { Column, View } from "./views.ts";
import { inSql, largeRows, viewsToPlan } from "./views.ts";

/** What a filter compares a column by: its operators, and the condition in SQL. */
function conditionsOf({ name, type, category }: Column): [operators: string, condition: string][] {
  const column = inSql(name);
  if (category === "A" || type === "jsonb") return [["contains", `${column} @> $1::${type}`]];
  if (type === "json") return [];
  if (category === "R") return [["overlaps", `${column} && $1::${type}`]];
  const equals: [string, string] = ["equals", `${column} = $1::${type}`];
  return category === "S"
    ? [equals, ["startsWith", `${column} >= $1::text collate "C" and ${column} < $2::text collate "C"`]]
    : [equals];
}

/**
 * Whether a condition is answered: yes, no, or only where there are no policies.
 *
 * @param operators the types that it compares by equality or order; none of other comparisons
 */
async function answerTo(
  client: ClientBase,
  view: View,
  condition: string,
  operators: readonly string[],
): Promise<"yes" | "no" | "leaky" | null> {
  const query = `select from ${view.name} v where ${condition}`;
  const plan = await planOf(client, query, "service_api");
  if (plan === null) return null;
  if (isByIndex(plan)) return "yes";
  const ofOwner = await planOf(client, query);
  if (!ofOwner || !isByIndex(ofOwner)) return "no";
  // Else Postgres has only found the index of a policy better
  return (await isLeakproof(client, operators)) ? "yes" : "leaky";
}

async function isLeakproof(client: ClientBase, operators: readonly string[]): Promise<boolean> {
  const { rows } = await client.query<{ all: boolean }>(
    `select coalesce(bool_and(p.proleakproof), false) as all
     from unnest($1::text[]) t left join pg_catalog.pg_operator o on o.oprname = '=' and o.oprleft = o.oprright
       and o.oprleft = to_regtype(replace(t, 'character varying', 'text'))
     left join pg_catalog.pg_proc p on p.oid = o.oprcode`,
    [operators],
  );
  return rows[0]!.all;
}

type Fault = Pick<Finding, "rule" | "object" | "what" | "why" | "wayOut">;

async function faultsOfFilters(client: ClientBase, view: View): Promise<Fault[]> {
  const unanswered: string[] = [];
  const leaky: string[] = [];
  for (const column of view.filtered) {
    if (view.key.length === 1 && view.key[0] === column.name) continue;
    for (const [operator, condition] of conditionsOf(column)) {
      const isOrdered = operator === "equals" || operator === "startsWith";
      const answer = await answerTo(client, view, condition, isOrdered ? [column.type] : []);
      if (answer === "no") unanswered.push(`${operator} of ${column.name}`);
      if (answer === "leaky") leaky.push(`${operator} of ${column.name}`);
    }
  }
  const found = { rule: "filter-without-index", object: view.name };
  const faults: Fault[] = [];
  if (unanswered.length > 0)
    faults.push({
      ...{ ...found, what: unanswered.join(", ") },
      why: "No index finds the rows of these filters: Postgres reads the whole table for a page of them.",
      wayOut:
        'create an index that begins with the column, for startsWith with collate "C"; or leave the column out of @filters.',
    });
  if (leaky.length > 0)
    faults.push({
      ...{ ...found, what: leaky.join(", ") },
      why: "There is an index, but the comparison isn't leakproof, and so Postgres hides the rows first that policies hide: it reads the whole table for a page of these filters.",
      wayOut: "leave the column out of @filters, or let the view show it as text, uuid, integer or date.",
    });
  return faults;
}

async function faultsOfOrder(client: ClientBase, view: View): Promise<Fault[]> {
  const order = view.key.map(inSql).join(", ");
  const plan = await planOf(client, `select from ${view.name} v order by ${order} limit 51`, "service_api");
  if (plan === null || !isSorted(plan)) return [];
  return [
    {
      ...{ rule: "order-without-index", object: view.name, what: `in the order of ${view.key.join(", ")}` },
      why: "No index has the order of the list: Postgres reads and sorts all rows for each page.",
      wayOut: "make a unique index on the columns of @primaryKey, in their order; or make the view simpler.",
    },
  ];
}

async function faultsOfRelations(client: ClientBase, view: View): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const columns of view.relations) {
    const types = columns.map((name) => view.columns.find((column) => column.name === name)?.type);
    if (columns.length === 0 || types.includes(undefined)) continue;
    const condition = columns.map((name, index) => `${inSql(name)} = $${index + 1}::${types[index]}`);
    const answer = await answerTo(client, view, condition.join(" and "), types as string[]);
    if (answer === "yes" || answer === null) continue;
    faults.push({
      ...{ rule: "relation-without-index", object: view.name, what: `by ${columns.join(", ")}` },
      why: "No index finds the rows of this relation: Postgres reads the whole table for each row that they belong to.",
      wayOut: "create an index that begins with the columns, on a large table concurrently.",
    });
  }
  return faults;
}

/** Filters, orders and relations of the head that no index answers, according to the plans of Postgres. */
export const indexUse: Source = {
  name: "index use",
  async find(subject) {
    const { client, places } = subject;
    const findings: Finding[] = [];
    for (const view of await viewsToPlan(subject)) {
      const place = await places.of(view.name);
      for (const look of [faultsOfFilters, faultsOfOrder, faultsOfRelations]) {
        for (const fault of await look(client, view)) {
          const severity = view.rows >= largeRows || look === faultsOfRelations ? "warning" : "note";
          findings.push({ ...fault, severity, file: place?.file ?? null, line: place?.line ?? null });
        }
      }
    }
    return findings;
  },
};
