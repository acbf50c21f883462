import pg from "pg";
import { startCluster } from "../src/database/cluster.ts";
import { catalogueOf, differencesOf } from "./support/catalogue.ts";
const cluster = await startCluster({ directory: "/tmp/both-cluster", flags: { fsync: "off" } });
const all = [];
for (const name of ["step", "once"]) {
  const client = new pg.Client({ connectionString: cluster.adminUrl(name) });
  await client.connect();
  await client.query("set search_path = pg_catalog");
  all.push(await catalogueOf(client));
  await client.end();
}
const d = differencesOf(all[0]!, all[1]!);
console.log(all.map((m) => m.size), d.length);
for (const x of d) console.log(x.slice(0, 700));
process.exit(0);
