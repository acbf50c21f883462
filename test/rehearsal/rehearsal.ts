// A year of production, in a minute or two: npm run test:rehearsal. The short form is in npm test: test/docs/recipes.test.ts.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { startCommand } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { Project } from "../commands/project.ts";
import { readRecipes } from "../docs/recipes.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";
import type { Place, Round } from "./client.ts";
import { Client } from "./client.ts";

const clock = fileURLToPath(new URL("clock.ts", import.meta.url));
const recipes = await readRecipes();
const stepsOf = (name: string) => recipes.find((recipe) => recipe.name === name)!.steps;
const example = await readFile(new URL("../../examples/seed-library/migration.sql", import.meta.url), "utf8");

let project: Project;
let database: TestDatabase;
let owner: pg.Pool;
let process: CommandProcess | undefined;
let place: Place = { address: "", day: "2026-12-01" };
const clients: Client[] = [];

before(async () => {
  project = await Project.copy();
  await project.commitCurrent();
  database = await openTestDatabase("template0");
  await setUp();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
});
after(async () => {
  await Promise.all(clients.map((client) => client.end()));
  process?.kill("SIGTERM");
  await process?.ended;
  await owner.end();
  await database.close();
  await project.remove();
});

/** The clock of a process that runs at noon of a day. */
const at = (day: string): Record<string, string> => ({
  NODE_OPTIONS: `--import ${clock}`,
  CLOCK_WRONG_BY_MS: String(Date.parse(`${day}T12:00:00Z`) - Date.now()),
});

async function run(...command: string[]): Promise<void> {
  const { code, output } = await project.run(command, { DATABASE_URL: database.adminUrl, ...at(place.day) });
  assert.equal(code, 0, output);
}
const setUp = () => run("db", "setup");
const release = (...words: string[]) => run("release", ...words);

/** Another process takes over, on another day; the one before answers what it has begun. */
async function restart(day: string): Promise<void> {
  const old = process;
  process = startCommand(
    ["start"],
    {
      DATABASE_URL: database.loginUrl,
      ...{ LIMIT_BUCKET: "1000000", LIMIT_REFILL: "100000" },
      ...at(day),
    },
    project.path,
  );
  const [, address] = await process.said(/The API is at (http:\S+?)\/api/);
  place = { address: address!, day };
  old?.kill("SIGTERM");
  if (old) assert.equal(await old.ended, 0, old.output());
}

/** A client that is there from now on. */
async function addClient(version: string, round: Round): Promise<void> {
  const credentials = await createCredential(owner, { name: `for ${version}`, read: "all", write: "all" });
  clients.push(new Client(version, () => place, credentials, round));
}

/** All clients have done something since; nobody has had any trouble, but for versions whose end was announced and has come. */
async function allIsWell(): Promise<void> {
  const since = clients.map(({ rounds, troubles }) => rounds + troubles.length);
  await until(() => clients.every((one, n) => one.rounds + one.troubles.length > since[n]! + 2), 60_000);
  for (const { sunset, troubles, version } of clients)
    for (const { day, what } of troubles) {
      assert.ok(sunset !== null && Date.parse(day) >= Date.parse(sunset), `${version} on ${day}: ${what}`);
      assert.match(what, /^Error: 400 .*VERSION/);
    }
}

const warehouses: Round = async (ask, n) => {
  const code = `${clients.length} ${n} ${Math.random()}`;
  const create =
    "mutation ($input: WarehouseCreateInput!) { warehouseCreate(input: $input) { warehouse { id } userErrors { message } } }";
  const { warehouseCreate: made } = await ask(create, { input: { code, name: "Shed" } });
  assert.deepEqual(made.userErrors, []);
  const { warehouse } = await ask("query ($id: ID!) { warehouse(id: $id) { code name } }", {
    id: made.warehouse.id,
  });
  assert.deepEqual(warehouse, { code, name: "Shed" });
};

/** Lends as clients of 2027-01 do, and reads it in the given words. */
const loans =
  (fields: string, expected: (borrower: string, days: number) => object): Round =>
  async (ask, n) => {
    const [borrower, days] = [`Reader No. ${n}`, 1 + (n % 30)];
    const lend =
      "mutation ($input: SeedPacketLendInput!) { seedPacketLend(input: $input) { seedLoan { id } userErrors { message } } }";
    const input = { packetId: "gid://service/SeedPacket/1", borrower, days };
    const { seedPacketLend: made } = await ask(lend, { input });
    assert.deepEqual(made.userErrors, []);
    const { seedLoan } = await ask(`query ($id: ID!) { seedLoan(id: $id) { ${fields} } }`, {
      id: made.seedLoan.id,
    });
    assert.deepEqual(seedLoan, expected(borrower, days));
  };

test("December 2026: a preview and the head are served", async () => {
  await restart("2026-12-01");
  await addClient("2026-06-unstable", warehouses);
  await addClient("unstable", warehouses);
  await allIsWell();
});

test("January 2027: a seed library, and the first stable version", async () => {
  await project.commit("seed-library", example.replace(/^drop (view|type|schema).*?;$/gms, ""));
  await setUp();
  await owner.query(`
    insert into seed_library.variety values ('T/01', 'Ochsenherz', 'under glass', null);
    insert into seed_library.packet (variety_code, weight_in_grams, packed_on) values ('T/01', 1, '2026-01-01')`);
  await allIsWell();
  await release("create", "2027-01", "--date", "2027-01-12");
  await setUp();
  await restart("2027-01-13");
  await addClient(
    "2027-01",
    loans("borrower days", (borrower, days) => ({ borrower, days })),
  );
  await addClient(
    "unstable",
    loans("borrower days", (borrower, days) => ({ borrower, days })),
  );
  await allIsWell();
});

test("March: a column is renamed, and another gets a new type, in two set-ups", async () => {
  const [rename, type] = [stepsOf("Rename a column"), stepsOf("Change a type")];
  for (const [n, step] of [...rename.slice(0, 2)].entries()) await project.commit(`rename-${n + 1}`, step);
  await setUp();
  await allIsWell();
  await project.commit("rename-3", rename[2]!);
  for (const [n, step] of type.entries()) await project.commit(`type-${n + 1}`, step);
  await setUp();
  await allIsWell();
});

test("April: the second version; the preview ends on the day that it had announced", async () => {
  await release("create", "2027-04", "--date", "2027-04-12");
  await setUp();
  await restart("2027-04-11");
  await allIsWell();
  assert.deepEqual(
    clients.flatMap(({ troubles }) => troubles),
    [],
  );
  await restart("2027-04-13");
  await addClient(
    "2027-04",
    loans("member lentFor", (member, days) => ({ member, lentFor: `P0Y0M${days}DT0H0M0S` })),
  );
  await allIsWell();
  assert.ok(clients[0]!.troubles.length > 0);
});

test("May: the preview is retired, while others are served, and stays unknown after a restart", async () => {
  await release("retire", "2026-06-unstable");
  await setUp();
  const schema = "select to_regnamespace('api_2026_06_unstable') as schema";
  assert.deepEqual((await owner.query(schema)).rows, [{ schema: null }]);
  await allIsWell();
  await restart("2027-05-03");
  await allIsWell();
});

test("July: products get a weight, and the third version has it", async () => {
  const view = await project.read("db/fixtures/api/products.sql");
  const [create] = /create view[^]*?from erp\.product\b[^;]*;/.exec(view)!;
  await project.commit(
    "product-weight",
    `alter table erp.product add column weight_in_grams integer;
     comment on column erp.product.weight_in_grams is 'Weight of one unit, in grams.';
     alter table erp.product add constraint product_weight_is_positive check (weight_in_grams > 0) not valid;
     comment on constraint product_weight_is_positive on erp.product is
       E'@userError OUT_OF_RANGE weight_in_grams\\nThe weight must be positive.';
     ${create.replace("create view", "create or replace view").replace(/\nfrom erp\.product\b/, ", weight_in_grams\nfrom erp.product")}`,
  );
  await project.commit(
    "weight-is-positive",
    "alter table erp.product validate constraint product_weight_is_positive;",
  );
  await project.commit(
    "weight-index",
    "--! no-transaction\ncreate index concurrently product_weight_idx on erp.product (weight_in_grams);",
  );
  await project.commit("weight-filter", "comment on index erp.product_weight_idx is 'For heavy products.';");
  await release("create", "2027-07", "--date", "2027-07-06");
  await setUp();
  await restart("2027-07-07");
  await addClient(
    "2027-07",
    async (ask) => void (await ask("{ products(first: 2) { edges { node { id weightInGrams } } } }")),
  );
  await allIsWell();
});

test("November: the first version warns of its end, which comes in February, and nobody else notices", async () => {
  await restart("2027-11-02");
  await allIsWell();
  const first = clients.find(({ version }) => version === "2027-01")!;
  assert.deepEqual(first.troubles, []);
  assert.equal(new Date(first.sunset!).toISOString().slice(0, 10), "2028-02-01");
  await restart("2028-02-01");
  await allIsWell();
  const over = clients.filter(({ troubles }) => troubles.length > 0).map(({ version }) => version);
  assert.deepEqual(over, ["2026-06-unstable", "2027-01"]);
  await release("retire", "2027-01");
  await setUp();
  await restart("2028-02-02");
  await allIsWell();
});
