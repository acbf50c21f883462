import type { ClientBase } from "pg";
import type { UnplacedFinding } from "./finding.ts";
import type { CheckStep } from "./check-source.ts";

/** Finds constraints that rows break, and nulls in columns that the API declares non-null. Needs rows. */
export const rows: CheckStep = {
  name: "rows",
  async find({ client }) {
    await client.query("begin");
    try {
      return [...(await findBrokenConstraints(client)), ...(await findNulls(client))];
    } finally {
      await client.query("rollback");
    }
  },
};

/** Tries to validate constraints that are not valid yet. */
async function findBrokenConstraints(client: ClientBase): Promise<UnplacedFinding[]> {
  const { rows: rules } = await client.query<{ place: string; name: string }>(
    `select c.conrelid::regclass::text as place, quote_ident(c.conname) as name
     from pg_constraint c join pg_class t on t.oid = c.conrelid
     join api_meta.own_schema s on s.oid = t.relnamespace where not c.convalidated and c.conenforced`,
  );
  const broken: UnplacedFinding[] = [];
  for (const { place, name } of rules) {
    await client.query("savepoint rule");
    const error = await client.query(`alter table ${place} validate constraint ${name}`).then(
      () => null,
      (cause: Error) => cause,
    );
    await client.query("rollback to rule");
    if (error !== null) broken.push(brokenRule(place, `${name}: ${error.message}`));
  }
  return broken;
}

const brokenRule = (object: string, what: string): UnplacedFinding => ({
  rule: "rows-break-rule",
  severity: "warning",
  object,
  what,
  why: "Rows of the demonstration shop break the rule, so rows of merchants may, and it can't be validated.",
  remedy: "repair such rows first with api_meta.backfill, and validate in the next migration.",
});

/** Looks for nulls in columns that the API declares non-null and no table constraint guarantees. */
async function findNulls(client: ClientBase): Promise<UnplacedFinding[]> {
  const { rows: columns } = await client.query<{ view: string; name: string }>(
    `select o.view::text as view, quote_ident(o.column_name) as name
     from api_meta.own_schema s cross join lateral api_meta.view_origins(s.name) o
     where s.is_api and o.is_promised and o.is_never_null is not true`,
  );
  const found: UnplacedFinding[] = [];
  for (const { view, name } of columns) {
    const { rowCount } = await client.query(`select from ${view} where ${name} is null limit 1`);
    if (rowCount !== 0)
      found.push({
        rule: "null-for-clients",
        severity: "error",
        object: `${view}.${name}`,
        what: "null",
        why: "Clients are told that it is never null: a page with such a row fails.",
        remedy: "use coalesce in the view, or remove @notNull from the column's comment.",
      });
  }
  return found;
}
