import { readFile } from "node:fs/promises";
import type pg from "pg";
import { signNextHead } from "../../src/jobs/sign-heads.ts";
import { createJobPool } from "../../src/postgres/background-pool.ts";
import { Secrets } from "../../src/secrets/secrets.ts";
import type { TestDatabase } from "./database.ts";
import type { ValuationShop } from "./valuation-shop.ts";
import { openValuationShop } from "./valuation-shop.ts";

const dayMs = 86_400_000;
export const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);
export const dayOf = (moment: Date) => moment.toISOString().slice(0, 10);

/** Lets reports have been closed days before, as the service would have hashed them then. */
const aged = (days: number) => `
  alter table valuation.report disable trigger keep_report;
  update valuation.report set closed_at = closed_at - interval '${days} days' where closed_at is not null;
  update valuation.report r set hash = valuation.report_hash(r) where closed_at is not null;
  alter table valuation.report enable trigger keep_report`;

/** A shop with one report, which was closed so many days ago. */
export async function openShopWithReport(days: number): Promise<ValuationShop> {
  const shop = await openValuationShop();
  await shop.buy("hammer", 10, 2);
  await shop.passDays(days + 5);
  await shop.report(days + 2);
  await shop.owner.query(aged(days));
  return shop;
}

const list = "query { stockValuationHeads(first: 250, orderBy: DAY_ASC) { edges { node {";
const nodesOf = (connection: any): any[] => connection.edges.map(({ node }: any) => node);

export async function headsOf(shop: ValuationShop): Promise<any[]> {
  const fields = "id day reportNumber reportHash previousHash signature signedAt signingKey { id publicKey }";
  return nodesOf((await shop.read(`${list} ${fields} } } } }`)).stockValuationHeads);
}

export async function keysOf(shop: ValuationShop): Promise<any[]> {
  const query = "query { stockValuationSigningKeys { edges { node { publicKey retiredAt } } } }";
  return nodesOf((await shop.read(query)).stockValuationSigningKeys);
}

export async function hashesOf(shop: ValuationShop): Promise<Record<number, string>> {
  const query = "query { stockValuationReports { edges { node { number hash } } } }";
  const reports = nodesOf((await shop.read(query)).stockValuationReports);
  return Object.fromEntries(reports.map(({ number, hash }) => [number, hash]));
}

/** All that an auditor gets. */
export const evidenceOf = async (shop: ValuationShop): Promise<Parameters<Audit>> => [
  await headsOf(shop),
  (await keysOf(shop)).map(({ publicKey }) => publicKey),
  await hashesOf(shop),
];

export const faults = async (owner: pg.Pool) =>
  (await owner.query("select figure from valuation.proof order by figure")).rows.map(({ figure }) => figure);

/** Signs what is due as a worker process does. Returns how many heads it was asked for. */
export async function work(
  shop: Pick<TestDatabase, "loginUrl">,
  secrets = new Secrets([]),
  moment?: Date,
): Promise<number> {
  const pool = createJobPool(shop.loginUrl, 1);
  try {
    let count = 0;
    while (await signNextHead(pool, secrets, moment)) count++;
    return count;
  } finally {
    await pool.end();
  }
}

/** Checks heads as docs/guides/valuation.md tells auditors to, by its own code. Fails with what is wrong. */
export type Audit = (
  heads: readonly { signature: string }[],
  keys: readonly object[],
  hashes: Record<number, string>,
) => Promise<void>;

/** Reads the code from the guide. Only `jose` is found from here. */
export async function readAudit(): Promise<Audit> {
  const guide = await readFile(new URL("../../docs/guides/valuation.md", import.meta.url), "utf8");
  const code = /```ts\n([^`]*export async function audit[^`]*(?:`[^`\n]+`[^`]*)*?)```/.exec(guide)![1]!;
  const found = code.replace('"jose"', JSON.stringify(import.meta.resolve("jose")));
  const module = (await import(`data:text/javascript,${encodeURIComponent(found)}`)) as { audit: Audit };
  return module.audit;
}
