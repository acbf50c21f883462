import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

const migration = await readFile(
  new URL("../../examples/seed-library/migration.sql", import.meta.url),
  "utf8",
);
const rows = `
  insert into seed_library.variety values ('T/01', 'Ochsenherz', 'under glass', '[2026-02-15,2026-04-01)'),
    ('B 2', 'Feuerbohne', 'in the open', null);
  insert into seed_library.packet (variety_code, weight_in_grams, packed_on) overriding system value
    select 'T/01', 0.1 * n, date '2026-01-01' + n from generate_series(1, 4) n;
  insert into seed_library.packet (id, variety_code, weight_in_grams, packed_on) overriding system value
    values (9007199254740993, 'B 2', 123456.000001, '2026-03-01');
  insert into seed_library.harvest values ('T/01', 2024, 10), ('T/01', 2025, 9223372036854775807), ('B 2', 2025, 7);`;

describe("the example of a seed library", () => {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await startService({
      async before(owner) {
        // As often as somebody saves it
        for (let times = 0; times < 2; times++) {
          await owner.query(migration);
          await owner.query("select api_meta.finish_migration()");
        }
        await owner.query(rows);
      },
    });
    token = await service.token({ read: ["seed_packets", "seed_loans"], write: ["seed_loans"] });
  });
  after(() => service.close());

  const ask = (query: string, variables: object = {}, as = token, engine?: string) =>
    service.ask(as, { query, variables }, engine ? { headers: { "x-read-by": engine } } : {});

  it("shows its types, keys and relations", async () => {
    const { body } = await ask(`{
      seedVarieties { edges { node { id code sowing sownIn
        packets(first: 2, filter: { weightInGrams: { gt: "0.1" } }) { edges { node { id weightInGrams packedOn } } }
        harvests { edges { node { id year seeds variety { code } } } } } } } }`);
    assert.equal(body.errors, undefined, JSON.stringify(body.errors));
    const [bean, tomato] = body.data.seedVarieties.edges.map(({ node }: any) => node);
    assert.deepEqual(bean, {
      id: "gid://service/SeedVariety/B 2",
      code: "B 2",
      sowing: "in_the_open",
      sownIn: null,
      packets: {
        edges: [
          {
            node: {
              id: "gid://service/SeedPacket/9007199254740993",
              weightInGrams: "123456.000001",
              packedOn: "2026-03-01",
            },
          },
        ],
      },
      harvests: {
        edges: [
          {
            node: {
              id: "gid://service/SeedHarvest/B 2/2025",
              year: 2025,
              seeds: "7",
              variety: { code: "B 2" },
            },
          },
        ],
      },
    });
    assert.equal(tomato.id, "gid://service/SeedVariety/T%2F01");
    assert.equal(tomato.sownIn, "[2026-02-15,2026-04-01)");
    assert.equal(tomato.harvests.edges[1].node.seeds, "9223372036854775807");
  });

  it("has columns that are worked out, in both ways of reading", async () => {
    const list = "seedPackets(first: 1) { edges { node { ageInDays } } }";
    const { rows: expected } = await service.owner.query(
      "select current_date - packed_on as age from seed_library.packet order by id limit 1",
    );
    for (const query of [`{ ${list} }`, `{ ${list} __schema { queryType { name } } }`]) {
      const { body } = await ask(query);
      assert.deepEqual(
        body.data?.seedPackets,
        { edges: [{ node: { ageInDays: expected[0].age } }] },
        JSON.stringify(body),
      );
    }
  });

  it("finds each thing by its id, and refuses ids of another form", async () => {
    for (const id of [
      "gid://service/SeedVariety/T%2F01",
      "gid://service/SeedPacket/9007199254740993",
      "gid://service/SeedHarvest/T%2F01/2025",
    ])
      assert.equal((await ask("query ($id: ID!) { node(id: $id) { id } }", { id })).body.data.node.id, id);
    for (const id of [
      "gid://service/SeedPacket/x",
      "gid://service/SeedPacket/01",
      "gid://service/SeedPacket/9223372036854775808",
      "gid://service/SeedHarvest/T%2F01",
      "gid://service/SeedHarvest/T%2F01/2147483648",
      "gid://service/SeedVariety/T%2f01",
    ])
      assert.deepEqual(
        (await ask("query ($id: ID!) { node(id: $id) { id } }", { id })).codes,
        ["BAD_USER_INPUT"],
        id,
      );
    const { codes } = await ask(
      "query ($day: Date!) { seedPackets(filter: { packedOn: { gte: $day } }) { edges { cursor } } }",
      { day: "2026-02-30" },
    );
    assert.deepEqual(codes, ["BAD_USER_INPUT"]);
  });

  it("pages through a list by a key of two columns", async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body }: any = await ask(
        `query ($after: String) { seedHarvests(first: 1, after: $after) {
          edges { node { id } } pageInfo { hasNextPage endCursor } } }`,
        { after: cursor },
      );
      seen.push(...body.data.seedHarvests.edges.map(({ node }: any) => node.id));
      const { hasNextPage, endCursor } = body.data.seedHarvests.pageInfo;
      cursor = hasNextPage ? endCursor : null;
    } while (cursor !== null);
    assert.deepEqual(
      seen.map((id) => id.slice("gid://service/SeedHarvest/".length)),
      ["B 2/2025", "T%2F01/2024", "T%2F01/2025"],
    );
  });

  it("lends a packet, tells why it doesn't, and writes an event", async () => {
    const lend = (id: string, borrower: string, as = token) =>
      ask(
        `mutation ($input: SeedPacketLendInput!) { seedPacketLend(input: $input) {
          seedLoan { borrower packet { id } } seedPacket { id } userErrors { code field } } }`,
        { input: { packetId: id, borrower } },
        as,
      );
    const packet = "gid://service/SeedPacket/2";
    const { body } = await lend(packet, "Ada");
    assert.deepEqual(body.data?.seedPacketLend, {
      seedLoan: { borrower: "Ada", packet: { id: packet } },
      seedPacket: { id: packet },
      userErrors: [],
    });
    const refused = async (id: string, borrower: string) =>
      (await lend(id, borrower)).body.data.seedPacketLend.userErrors;
    assert.deepEqual(await refused("gid://service/SeedPacket/99", "Ada"), [
      { code: "NOT_FOUND", field: ["packetId"] },
    ]);
    assert.deepEqual(await refused(packet, " "), [{ code: "INVALID", field: ["borrower"] }]);
    const { rows: events } = await service.owner.query(
      "select topic, data ->> 'packetId' as packet from events.outbox union all select topic, data ->> 'packetId' from events.event",
    );
    assert.deepEqual(events, [{ topic: "seed_loan.created", packet }]);
    const reader = await service.token({ read: ["seed_packets"] });
    assert.deepEqual((await lend(packet, "Eve", reader)).codes, ["FORBIDDEN"]);
    assert.deepEqual((await ask("{ seedLoans { edges { node { id } } } }", {}, reader)).codes, ["FORBIDDEN"]);
  });

  it("is refused where nothing would protect its rows", async () => {
    const client = await service.owner.connect();
    const inVain = async (sql: string, message: RegExp) => {
      await client.query("begin");
      await assert.rejects(client.query(`${sql}; select api_meta.finish_migration()`), message);
      await client.query("rollback");
    };
    await inVain(
      "alter table seed_library.packet disable row level security",
      /seed_packets reads seed_library\.packet, whose row-level security is off.*enable row level security/,
    );
    await inVain(
      "delete from api_meta.exposed_schema where name = 'seed_library'",
      /the schema seed_library is not exposed to the API: select api_meta\.expose\('seed_library'\)/,
    );
    await inVain(
      `create materialized view seed_library.total as select variety_code, sum(seeds) as seeds from seed_library.harvest group by 1;
       create view api_unstable.seed_totals with (security_invoker) as select * from seed_library.total;
       comment on view api_unstable.seed_totals is E'@primaryKey variety_code\\n@requiresScopes seed_packets:read'`,
      /seed_totals reads seed_library\.total, of which Postgres can hide no rows/,
    );
    await inVain(
      `create view seed_library.heavy as select * from seed_library.packet where weight_in_grams > 1;
       create view api_unstable.seed_heavies with (security_invoker) as select * from seed_library.heavy;
       comment on view api_unstable.seed_heavies is E'@primaryKey id\\n@requiresScopes seed_packets:read'`,
      /seed_heavies reads the view seed_library\.heavy, which reads with the rights of its owner/,
    );
    client.release();
  });
});
