import { readFile } from "node:fs/promises";
import type { ClientBase } from "pg";
import type { UnplacedFinding } from "../finding.ts";
import type { CheckStep, CheckInput } from "../check-source.ts";
import { usesIndex, sortsRows, planWithIndexes } from "../../plans/explain.ts";

/** A row of db/index-probes.sql: a query that clients can run on a list. */
interface Probe {
  /** With its schema. */
  view: string;
  /** The tables that it reads. */
  tables: string[];
  kind: "filter" | "order" | "relation";
  what: string;
  query: string;
  /** Whether its comparisons are leakproof: they reveal nothing about other rows. */
  isLeakproof: boolean;
}

const file = new URL("../../../db/index-probes.sql", import.meta.url);

/** The size from which clients notice that a table is read whole. */
const largeRows = 10_000;

const rules = {
  filter: {
    rule: "filter-without-index",
    why: "No index finds the rows of these filters: Postgres reads the whole table for a page of them.",
    remedy:
      'create an index that begins with the column, for startsWith with collate "C"; or leave the column out of @filters.',
  },
  leakyFilter: {
    rule: "filter-without-index",
    why: "There is an index, but the comparison isn't leakproof, and so Postgres hides the rows first that policies hide: it reads the whole table for a page of these filters.",
    remedy: "leave the column out of @filters, or let the view show it as text, uuid, integer or date.",
  },
  order: {
    rule: "order-without-index",
    why: "No index has the order of the list: Postgres reads and sorts all rows for each page.",
    remedy: "make a unique index on the columns of @primaryKey, in their order; or make the view simpler.",
  },
  relation: {
    rule: "relation-without-index",
    why: "No index finds the rows of this relation: Postgres reads the whole table for each row that they belong to.",
    remedy: "create an index that begins with the columns, on a large table concurrently.",
  },
};

/** Returns the rule that a query breaks; null when an index answers it, or its role has no rights yet. */
async function findBrokenRule(
  client: ClientBase,
  { kind, query, isLeakproof }: Probe,
): Promise<keyof typeof rules | null> {
  const plan = await planWithIndexes(client, query, "service_api");
  if (plan === null) return null;
  if (kind === "order") return sortsRows(plan) ? kind : null;
  if (usesIndex(plan)) return null;
  const ofOwner = await planWithIndexes(client, query);
  if (!ofOwner || !usesIndex(ofOwner)) return kind;
  // Otherwise Postgres only preferred a policy's index
  if (isLeakproof) return null;
  return kind === "filter" ? "leakyFilter" : kind;
}

async function readSizes(client: ClientBase): Promise<Map<string, number>> {
  const { rows } = await client.query<{ name: string; rows: number }>(
    "select c.oid::regclass::text as name, c.reltuples::float8 as rows from pg_catalog.pg_class c where c.relkind in ('r', 'p', 'm')",
  );
  return new Map(rows.map(({ name, rows: count }) => [name, count]));
}

/** Reads the probes of views that uncommitted migrations name or that read large tables, with the largest table's size. */
async function readProbes({
  client,
  recorded,
  scripts,
}: CheckInput): Promise<{ rows: number; probes: Probe[] }[]> {
  const { rows: all } = await client.query<Probe>(await readFile(file, "utf8"));
  const sizes = await readSizes(recorded);
  const text = scripts.flatMap(({ statements }) => statements.map((one) => one.text)).join("\n");
  return [...Map.groupBy(all, ({ view }) => view)].flatMap(([view, probes]) => {
    const rows = Math.max(0, ...probes[0]!.tables.map((table) => sizes.get(table) ?? 0));
    const isNamed = () => new RegExp(`(?<![\\w.])${RegExp.escape(view)}(?![\\w])`).test(text);
    return rows >= largeRows || isNamed() ? [{ rows, probes }] : [];
  });
}

/** Finds filters, sort orders and relations of `unstable` that use no index, according to Postgres' plans. */
export const indexUse: CheckStep = {
  name: "index use",
  async find(subject) {
    const found: UnplacedFinding[] = [];
    for (const { rows, probes } of await readProbes(subject)) {
      const broken = new Map<string, UnplacedFinding>();
      for (const probe of probes) {
        const name = await findBrokenRule(subject.client, probe);
        if (name === null) continue;
        const severity = rows >= largeRows || name === "relation" ? "warning" : "note";
        // Report all filters of a view in one finding
        const key = name === "relation" ? probe.what : name;
        const others = key === name ? broken.get(key)?.what : undefined;
        const what = [others, probe.what].filter(Boolean).join(", ");
        broken.set(key, { ...rules[name], severity, object: probe.view, what });
      }
      found.push(...broken.values());
    }
    return found;
  },
};
