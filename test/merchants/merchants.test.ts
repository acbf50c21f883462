import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { AccessTokens, issuerFor, TokenRefusal } from "../../src/auth/access-token.ts";
import { createCredential } from "../../src/auth/credentials.ts";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { configuredSigningKeys } from "../../src/auth/signing-keys.ts";
import { merchantDatabaseName } from "../../src/merchants/merchant-database.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import { toApiLoginUrl } from "../../src/postgres/roles.ts";
import { storeMerchant } from "../../src/merchants/directory.ts";
import type { Merchant } from "../../src/merchants/merchant.ts";
import { startCollector } from "../tracing/collector.ts";
import type { CollectedSpan, Collector } from "../tracing/collector.ts";
import { withConnection, hostOf, openMerchants, owner } from "../lib/merchants.ts";
import type { TestMerchants } from "../lib/merchants.ts";
import { until } from "../lib/until.ts";

const adminUrl = process.env.TEST_ADMIN_URL!;
const count = 6;
const connections = 10;
let collector: Collector;
let opened: TestMerchants;

const names = "{ warehouses(first: 9) { edges { node { name } } } }";
const api = "/api/graphql/unstable";
const tokenAt: TestMerchants["tokenAt"] = (...given) => opened.tokenAt(...given);
const ask: TestMerchants["ask"] = (...given) => opened.ask(...given);
const graphql = (host: string, token: string, query: string, path = api) =>
  ask(host, path, { query }, { authorization: `Bearer ${token}` });

before(async () => {
  collector = await startCollector();
  opened = await openMerchants({
    count,
    settings: {
      MERCHANT_CONNECTIONS: String(connections),
      SHARED_HOSTS: "all.example",
      CORS_ORIGINS: "https://shop.example",
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: "20",
    },
    aloneAfterMs: 5_000,
  });
});

after(async () => {
  await opened?.close();
  await collector?.close();
});

suite("many merchants in a process", () => {
  const [one, two, three, four] = [0, 1, 2, 3].map((n) => () => opened.merchants[n]!) as (() => Merchant)[];

  test("each is found by its host, and has its own data and tokens", async () => {
    const both = [one!(), two!()];
    const tokens = await Promise.all(both.map((merchant) => tokenAt(merchant, "all")));
    for (const [n, merchant] of both.entries()) {
      const create = `mutation { warehouseCreate(input: { name: "of ${n}", code: "W${n}" }) { warehouse { name } } }`;
      const { body } = await graphql(hostOf(merchant), tokens[n]!, create);
      assert.equal(body.data.warehouseCreate.warehouse.name, `of ${n}`);
    }
    for (const [n, merchant] of both.entries()) {
      const { body } = await graphql(`${hostOf(merchant).toUpperCase()}:80`, tokens[n]!, names);
      assert.deepEqual(body.data.warehouses.edges, [{ node: { name: `of ${n}` } }]);
      const { rows } = await owner(merchant, (client) => client.query("select name from erp.warehouse"));
      assert.deepEqual(rows, [{ name: `of ${n}` }]);
      // Answered by Grafast, with the connections of its own merchant
      const slow = await graphql(hostOf(merchant), tokens[n]!, names.replace("name }", "name __typename }"));
      assert.equal(slow.body.data.warehouses.edges[0].node.name, `of ${n}`);
    }
    const foreign = await graphql(hostOf(two!()), tokens[0]!, names);
    assert.equal(foreign.status, 401);
    assert.equal(foreign.body.errors[0].extensions.code, "UNAUTHENTICATED");
  });

  test("traces say whose requests they are of", async () => {
    const traceId = randomBytes(16).toString("hex");
    for (const [n, merchant] of [one!(), two!()].entries()) {
      const traceparent = `00-${traceId}-000000000000000${n + 1}-01`;
      const headers = { authorization: `Bearer ${await tokenAt(merchant)}`, traceparent };
      await ask(hostOf(merchant), api, { query: names }, headers);
    }
    const isOf = (name: string, parent: string) => (span: CollectedSpan) =>
      span.traceId === traceId && span.parent === parent && span.attributes["service.merchant"] === name;
    await until(() => collector.spans.some(isOf(one!().name, "0000000000000001")));
    await until(() => collector.spans.some(isOf(two!().name, "0000000000000002")));
  });

  test("a token is refused by another merchant even where both have the same keys", async () => {
    const keys = configuredSigningKeys(["a secret of at least thirty-two characters"]);
    const [ofOne, ofTwo] = ["one", "two"].map((name) => new AccessTokens(keys, Date.now, issuerFor(name)));
    const alone = new AccessTokens(keys, Date.now);
    const token = await ofOne!.issue({ credentialId: "1", accessKey: "ak", scopes: [] });
    assert.equal((await ofOne!.verify(token)).accessKey, "ak");
    for (const other of [ofTwo!, alone]) await assert.rejects(other.verify(token), TokenRefusal);
  });

  test("an unknown host learns nothing, and health is asked of the process", async () => {
    for (const path of [api, "/admin", "/", `/m/${one!().name}${api}`, `/m/nobody${api}`]) {
      const { status, body, text } = await ask("nobody.example", path);
      assert.equal(status, 421);
      assert.equal(body.errors[0].code, "SERVICE_GRAPHQL__UNKNOWN_HOST");
      assert.doesNotMatch(text, new RegExp(one!().name));
    }
    assert.equal((await ask("10.0.0.1", "/livez")).status, 200);
    assert.equal((await ask("10.0.0.1", "/readyz")).status, 200);
    assert.equal((await ask(hostOf(one!()), "/readyz")).status, 200);
  });

  test("one may be reached by a path, where only its API is", async () => {
    const token = await tokenAt(two!());
    const { body } = await graphql("shared.example", token, names, `/m/${two!().name}${api}`);
    assert.ok(body.data.warehouses);
    assert.equal((await ask("shared.example", `/m/${two!().name}/admin`)).status, 421);
  });

  test("at a shared host, it is known by its client", async () => {
    const credentials = await Promise.all(
      [one!(), two!()].map((merchant) =>
        owner(merchant, (client) => createCredential(client, { name: "shared", read: "all", write: [] })),
      ),
    );
    const exchange = (merchant: string, { clientId, clientSecret }: ClientCredentials) => {
      const pair = Buffer.from(`${merchant}${clientId}:${clientSecret}`).toString("base64");
      const grant = { grant_type: "client_credentials" };
      return ask("all.example", "/api/oauth/token", grant, { authorization: `Basic ${pair}` });
    };
    const [mine, other] = [credentials[0]!, credentials[1]!];
    const tokens: string[] = [];
    for (const [n, merchant] of [one!(), two!()].entries()) {
      const { status, body } = await exchange(`${merchant.name}.`, credentials[n]!);
      assert.equal(status, 200);
      tokens.push(body.access_token);
      const shared = await graphql("All.example:80", body.access_token, names);
      assert.deepEqual(shared.body, (await graphql(hostOf(merchant), body.access_token, names)).body);
      assert.deepEqual(shared.body.data.warehouses.edges, [{ node: { name: `of ${n}` } }]);
    }
    const wrong = { ...mine, clientSecret: other.clientSecret };
    const refused = await Promise.all([
      exchange(`${one!().name}.`, wrong),
      exchange(`${two!().name}.`, mine),
      exchange("nobody.", mine),
      exchange("", mine),
      ask("all.example", "/api/oauth/token", {
        ...{ grant_type: "client_credentials", client_id: mine.clientId, client_secret: mine.clientSecret },
      }),
    ]);
    for (const { status, body } of refused) assert.deepEqual([status, body], [401, refused[0].body]);
    assert.equal(refused[0].body.error, "invalid_client");

    const [header, payload, signature] = tokens[0]!.split(".") as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
    const forged = (changes: object, head = header) =>
      [head, Buffer.from(JSON.stringify({ ...claims, ...changes })).toString("base64url"), signature].join(
        ".",
      );
    const unsigned = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString("base64url");
    for (const token of [
      forged({ iss: issuerFor(two!().name) }),
      forged({ iss: issuerFor("nobody") }),
      forged({ iss: 1 }),
      forged({}, unsigned),
      "no.token.atall",
    ]) {
      const { status, body } = await graphql("all.example", token, names);
      assert.deepEqual([status, body.errors[0].extensions.code], [401, "UNAUTHENTICATED"]);
      assert.equal(body.errors[0].message, "The access token is not valid.");
    }
    assert.equal((await ask("all.example", api, { query: names })).status, 401);
    for (const path of ["/admin", "/docs", "/"]) assert.equal((await ask("all.example", path)).status, 421);
    assert.equal((await ask("all.example", "/livez")).status, 200);
    assert.equal((await graphql("nobody.example", tokens[0]!, names)).status, 421);
  });

  test("strangers at a shared host can't tell which merchants there are, nor which are suspended", async (t) => {
    const suspended = opened.merchants[5]!;
    await storeMerchant(opened.folder, { ...suspended, state: "suspended" });
    t.after(async () => {
      await storeMerchant(opened.folder, suspended);
      await until(async () => (await ask(hostOf(suspended), api)).status !== 403);
    });
    await until(async () => (await ask(hostOf(suspended), api)).status === 403);
    const basic = (name: string) => `Basic ${Buffer.from(`${name}.ak_wrong:sk_wrong`).toString("base64")}`;
    const bearer = (name: string) => {
      const parts = [{ alg: "HS256", typ: "at+jwt" }, { iss: issuerFor(name) }];
      const [head, payload] = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
      return `Bearer ${head}.${payload}.c2lnbmF0dXJl`;
    };
    const grant = { grant_type: "client_credentials" };
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const cases: [number, string, string, unknown?, Record<string, string>?, string?][] = [
      [401, "token", "/api/oauth/token", grant],
      [400, "token", "/api/oauth/token", {}],
      [400, "token", "/api/oauth/token", grant, form],
      [405, "token", "/api/oauth/token"],
      [204, "token", "/api/oauth/token", undefined, { "access-control-request-method": "POST" }, "OPTIONS"],
      [401, "api", api, { query: names }],
      [401, "api", api],
      [405, "api", api, undefined, {}, "PUT"],
      [400, "api", "/api/graphql/1999-01"],
      [401, "api", "/api/events"],
      [405, "api", "/api/events", {}],
      [401, "api", "/api/bulk/orders", {}],
      [421, "api", "/api/versions"],
      [421, "api", "/api/nothing"],
    ];
    for (const [status, kind, path, body, more, method] of cases) {
      const answers = await Promise.all(
        [one!().name, suspended.name, "nobody"].map(async (name) => {
          const headers = { authorization: (kind === "token" ? basic : bearer)(name), ...more };
          const origin = "https://shop.example";
          const answer = await ask("all.example", path, body, { ...headers, origin }, method);
          assert.equal(answer.headers["access-control-allow-origin"], origin, path);
          const { "x-request-id": id = "" } = answer.headers;
          const others = { ...answer.headers, "x-request-id": "", date: "" };
          return [answer.status, others, answer.text.replaceAll(String(id), "id")];
        }),
      );
      assert.equal(answers[0]![0], status, path);
      for (const answer of answers) assert.deepEqual(answer, answers[0], path);
    }
  });

  test("pages of listed origins may ask at a shared host, and read refusals", async () => {
    const preflight = (path: string, origin: string, host = "all.example") =>
      ask(host, path, undefined, { origin, "access-control-request-method": "POST" }, "OPTIONS");
    for (const path of [api, "/api/oauth/token"]) {
      const { status, headers } = await preflight(path, "https://shop.example");
      assert.deepEqual([status, headers["access-control-allow-origin"]], [204, "https://shop.example"]);
      assert.match(headers["access-control-allow-headers"]!, /authorization/);
      const other = await preflight(path, "https://other.example");
      assert.equal(other.headers["access-control-allow-origin"], undefined);
      const refused = await ask("all.example", path, {}, { origin: "https://shop.example" });
      assert.equal(refused.headers["access-control-allow-origin"], "https://shop.example");
      assert.ok(refused.status >= 400);
    }
  });

  test("no login of one can open the database of another", async () => {
    const [mine, other] = [
      one!().databaseUrl,
      urlOfDatabase(one!().databaseUrl, merchantDatabaseName(two!().name)),
    ];
    for (const open of [(url: string) => url, (url: string) => toApiLoginUrl(url)!]) {
      await withConnection(open(mine), (client) => client.query("set role service_api"));
      await assert.rejects(
        withConnection(open(other), async () => {}),
        { code: "42501" },
      );
    }
    const shared = urlOfDatabase(process.env.TEST_LOGIN_URL!, merchantDatabaseName(one!().name));
    await assert.rejects(
      withConnection(shared, async () => {}),
      { code: "42501" },
    );
    // Nor does the role that both may become help
    await withConnection(mine, async (client) => {
      await client.query("set role service_api");
      await assert.rejects(client.query(`set role "merchant_${two!().name}_login"`), { code: "42501" });
    });
  });

  test("while half of them are migrated, both halves are served", async () => {
    const [before, migrated] = [three!(), four!()];
    const tokens = [await tokenAt(before), await tokenAt(migrated)] as const;
    const describe = '{ __type(name: "Warehouse") { fields { name description } } }';
    const described = async (merchant: Merchant, token: string) => {
      const { body } = await graphql(hostOf(merchant), token, describe);
      return body.data.__type.fields.find(({ name }: any) => name === "code").description;
    };
    const old = await described(before, tokens[0]);
    assert.equal(await described(migrated, tokens[1]), old);
    await owner(migrated, (client) =>
      client.query(`begin;
        comment on column erp.warehouse.code is 'Another word.';
        insert into graphile_migrate.migrations (hash, filename) values ('sha1:0', '999999-another.sql');
        commit`),
    );
    await until(async () => (await described(migrated, tokens[1])) === "Another word.");
    assert.equal(await described(before, tokens[0]), old);
    assert.ok((await graphql(hostOf(before), tokens[0], names)).body.data);
    assert.ok((await graphql(hostOf(migrated), tokens[1], names)).body.data);
  });

  test("one is suspended and resumed without a restart; the others go on", async () => {
    const token = await tokenAt(three!());
    const statusOf = async () => (await graphql(hostOf(three!()), token, names)).status;
    assert.equal(await statusOf(), 200);
    await storeMerchant(opened.folder, { ...three!(), state: "suspended" });
    await until(async () => (await statusOf()) === 403);
    const { body } = await ask(hostOf(three!()), "/admin");
    assert.equal(body.errors[0].code, "SERVICE_GRAPHQL__SUSPENDED");
    assert.equal((await graphql(hostOf(two!()), await tokenAt(two!()), names)).status, 200);
    await storeMerchant(opened.folder, three!());
    await until(async () => (await statusOf()) === 200);
  });

  test("a busy one has few statements at a time while others have some, and more when it is alone", async () => {
    const busy = opened.merchants[4]!;
    await owner(busy, (client) =>
      client.query(`create function erp.dawdle() returns trigger language plpgsql set search_path = pg_catalog, pg_temp
          as $$ begin perform pg_sleep(0.2); return new; end $$;
        create trigger dawdle before insert on erp.supplier for each row execute function erp.dawdle()`),
    );
    const [token, other] = [await tokenAt(busy, "all"), await tokenAt(one!())];
    const sleeping = `select from pg_stat_activity where datname = $1 and wait_event = 'PgSleep'`;
    await withConnection(adminUrl, async (admin) => {
      let [most, made] = [0, 0];
      // Each statement sleeps for longer than the pause between two looks
      const look = async () => {
        await sleep(10);
        const { rowCount } = await admin.query(sleeping, [merchantDatabaseName(busy.name)]);
        most = Math.max(most, rowCount!);
      };
      const flood = (count: number) =>
        Promise.all(
          Array.from({ length: count }, () => {
            const input = `{ suppliers: [{ number: "B${made++}", name: "Busy" }] }`;
            const upsert = `mutation { suppliersUpsert(input: ${input}) { suppliers { name } } }`;
            return graphql(hostOf(busy), token, upsert);
          }),
        );
      let isOver = false;
      const asking = async () => {
        while (!isOver) {
          await graphql(hostOf(one!()), other, names);
          await sleep(20); // As long as a client thinks
        }
      };
      const asked = asking();
      // Two connections are open before
      await flood(2);
      const flooded = flood(8).finally(() => (isOver = true));
      while (!isOver) await look();
      const answers = await flooded;
      assert.ok(answers.every(({ body }) => body.data.suppliersUpsert.suppliers.length === 1));
      assert.ok(most <= 2, `${most} statements`);
      await asked;
      await until(async () => {
        const alone = flood(8);
        await Promise.race([alone, until(async () => (await look(), most > 2))]).catch(() => {});
        await alone;
        return most > 2;
      });
    });
  });

  test("all together have few connections, and none while nothing is asked", async () => {
    const open =
      "select count(*)::integer as count from pg_stat_activity where datname = any ($1) and application_name <> ''";
    const databases = opened.merchants.map(({ name }) => merchantDatabaseName(name));
    const tokens = await Promise.all(opened.merchants.map((merchant) => tokenAt(merchant)));
    await withConnection(adminUrl, async (admin) => {
      const counts: number[] = [];
      const count = async () => (await admin.query<{ count: number }>(open, [databases])).rows[0]!.count;
      const answers = Promise.all(
        Array.from({ length: 5 * opened.merchants.length }, (_, n) =>
          graphql(
            hostOf(opened.merchants[n % opened.merchants.length]!),
            tokens[n % opened.merchants.length]!,
            names,
          ),
        ),
      );
      let isDone = false;
      void answers.finally(() => (isDone = true)).catch(() => {});
      while (!isDone) counts.push(await count());
      // On a busy machine one may have waited too long, and is told so
      for (const { body } of await answers)
        assert.match(body.errors?.[0].extensions.code ?? "", /^(SERVICE_UNAVAILABLE)?$/);
      for (const [n, merchant] of opened.merchants.entries())
        await until(async () => !(await graphql(hostOf(merchant), tokens[n]!, names)).body.errors);
      assert.ok(Math.max(...counts) <= connections, `${Math.max(...counts)} connections`);
      await until(async () => (await count()) === 0);
    });
    // What the next request of an idle one needs is a single connection, and it sees what has changed meanwhile
    const { pool } = opened.serving.merchants.find(three!().name)!;
    await until(async () => {
      if (pool.totalCount > 0) return false;
      const { status, body } = await graphql(hostOf(three!()), tokens[2]!, names);
      assert.deepEqual([status, body.errors], [200, undefined]);
      return pool.totalCount === 0;
    });
    await owner(three!(), (client) => client.query("select auth.set_plan('none')"));
    assert.equal((await graphql(hostOf(three!()), tokens[2]!, names)).status, 402);
    const metrics = await opened.serving.figures.metrics();
    for (const { name } of opened.merchants)
      assert.match(metrics, new RegExp(`service_requests_total{.*merchant="${name}"`));
    assert.equal(metrics.match(/^# HELP service_requests_total /gm)!.length, 1);
    const told = opened.log.filter(({ level }) => level >= 50);
    assert.deepEqual(told, []);
  });
});
