import type { ClientBase } from "pg";
import type { UnplacedFinding } from "../finding.ts";
import type { CheckStep } from "../check-source.ts";
import type { PlanNode } from "../../plans/explain.ts";
import { planWithIndexes } from "../../plans/explain.ts";

/** A table with policies for service_api, and the functions that they call. */
interface Protected {
  name: string;
  functions: string[];
}

const query = `
  select c.oid::regclass::text as name, array(
    select distinct format('%I.%I', n.nspname, f.proname)
    from pg_catalog.pg_policy o
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = o.oid
      and d.refclassid = 'pg_catalog.pg_proc'::regclass
    join pg_catalog.pg_proc f on f.oid = d.refobjid join pg_catalog.pg_namespace n on n.oid = f.pronamespace
    where o.polrelid = c.oid) as functions
  from pg_catalog.pg_class c
  where c.relrowsecurity and exists (
    select from pg_catalog.pg_policy p
    where p.polrelid = c.oid and p.polcmd in ('r', '*')
      and ('service_api'::regrole = any (p.polroles) or 0 = any (p.polroles))
      -- Policies from api_meta.derive() are evaluated once per statement
      and pg_catalog.pg_get_expr(p.polqual, p.polrelid)
        !~ '^\\( SELECT auth\\.has_scope\\(VARIADIC ''[^'']*''::text\\[\\]\\) AS has_scope\\)$')
    and pg_catalog.has_any_column_privilege('service_api', c.oid, 'select')
  order by 1`;

/** Lists the costs of a table's policies, from the plan of a query without conditions. */
function listCosts(plan: readonly PlanNode[], functions: readonly string[]): string[] {
  const filters = plan.map(({ Filter = "" }) => Filter).join(" ");
  // Plans show Postgres' own functions without a schema
  const called = [...functions, "current_setting"].filter((name) => filters.includes(`${name}(`));
  const queries = plan.filter((node) => node["Parent Relationship"] === "SubPlan");
  return [
    ...called.map((name) => `calls ${name}() for each row`),
    ...queries.map((node) => {
      const name = node["Subplan Name"]!;
      return filters.includes(`hashed ${name}`)
        ? "reads all rows of a sub-select for each statement"
        : "runs a sub-select for each row";
    }),
  ];
}

async function findCosts(client: ClientBase, { name, functions }: Protected): Promise<string[]> {
  const plan = await planWithIndexes(client, `select from ${name}`, "service_api");
  return plan ? [...new Set(listCosts(plan, functions))] : [];
}

/** Finds policies that do work for each row. */
export const policies: CheckStep = {
  name: "policies",
  async find({ client }) {
    const { rows } = await client.query<Protected>(query);
    const found: UnplacedFinding[] = [];
    for (const table of rows) {
      const costs = await findCosts(client, table);
      if (costs.length === 0) continue;
      found.push({
        rule: "costly-policy",
        severity: "warning",
        object: table.name,
        what: costs.join(", "),
        why: "Every query of the table pays for its policies, row by row, before its own conditions.",
        remedy:
          "put what is the same for all rows into a sub-select: (select auth.has_scope(…)); compare columns of the row with a list that such a sub-select returns: column = any ((select …)::text[]).",
      });
    }
    return found;
  },
};
