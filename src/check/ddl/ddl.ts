import type { ClientBase } from "pg";
import type { Finding } from "../finding.ts";
import type { Script } from "../script.ts";
import type { CheckStep, CheckInput } from "../check-source.ts";
import { addedConstraints } from "./alter-table.ts";
import { relationName } from "./known.ts";
import type { DdlFacts } from "./known.ts";
import { ddlRules } from "./rules.ts";
import type { Danger, DdlRule } from "./rules.ts";
import { findDangers } from "./statements.ts";

/** Statements that block readers or writers of tables with rows, rewrite them, or lose their data. */
export const dangerousDdl: CheckStep = {
  name: "dangerous statements",
  async find(subject) {
    const catalogue = await readCatalogue(subject.client);
    return subject.scripts.flatMap((script) => findScriptDangers(script, subject, catalogue));
  },
};

function findScriptDangers(script: Script, subject: CheckInput, catalogue: Catalogue): Finding[] {
  const known = collectFacts(script, subject, catalogue);
  return script.statements.flatMap(({ nodes, place }) =>
    nodes.flatMap((node) =>
      findDangers(node, known).map((danger) => ({ ...createFinding(danger), ...place })),
    ),
  );
}

function createFinding({ rule, object, what = "", remedy: own }: Danger) {
  const { severity = "error", why, remedy }: DdlRule = ddlRules[rule];
  return { rule, severity, object, what, why, remedy: (own ?? remedy).replaceAll("TABLE", object) };
}

function collectFacts(script: Script, { oldColumns }: CheckInput, catalogue: Catalogue): DdlFacts {
  return {
    isOld: (relation) => relation !== undefined && oldColumns.has(relationName(relation)),
    isNewColumn: (relation, column) => oldColumns.get(relationName(relation!))?.has(column) !== true,
    isVolatile: (name) => catalogue.volatile.has(name),
    isCheckedNotNull: (table, column) => catalogue.notNull.has(`${table}.${column}`),
    isCheckedType: (name) => catalogue.domains.has(name),
    addedConstraints: new Set(script.statements.flatMap(({ nodes }) => nodes.flatMap(addedConstraints))),
    isInTransaction: script.isInTransaction,
    statementCount: script.statements.length,
  };
}

/** Facts about the database that the rules need. */
interface Catalogue {
  volatile: ReadonlySet<string>;
  /** Columns, as `table.column`. */
  notNull: ReadonlySet<string>;
  domains: ReadonlySet<string>;
}

async function readCatalogue(client: ClientBase): Promise<Catalogue> {
  const names = async (query: string) => {
    const { rows } = await client.query<{ name: string }>(query);
    return new Set(rows.map(({ name }) => name));
  };
  return {
    volatile: await names("select distinct proname as name from pg_proc where provolatile = 'v'"),
    notNull: await names(`select format('%s.%s', c.conrelid::regclass, a.attname) as name
      from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
      where c.convalidated and (c.contype = 'c' and cardinality(c.conkey) = 1
        and pg_get_constraintdef(c.oid) ~ '^CHECK \\(\\(\\w+ IS NOT NULL\\)\\)')`),
    domains: await names(`select n.nspname || '.' || t.typname as name from pg_type t
      join pg_namespace n on n.oid = t.typnamespace
      where t.typtype = 'd' and (t.typnotnull or exists (select from pg_constraint c where c.contypid = t.oid))`),
  };
}
