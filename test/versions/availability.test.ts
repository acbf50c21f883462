import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { versionOf, versions } from "../../src/versions/versions.ts";
import { query, startProcess, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

// One version has lost a view by hand, outside of migrations; another one was never made
const broken = "2026-06-unstable";
const missing = versionOf({ slug: "2026-07", releasedOn: "2026-07-01" });
let service: TestService;
let token: string;
before(async () => {
  service = await startService({
    versions: [...versions, missing],
    now: () => Date.parse("2026-08-01"),
    before: async (owner) => void (await owner.query("drop view api_2026_06_unstable.warehouses")),
  });
  token = await service.token();
});
after(() => service.close());

const healthOf = async (url: string) => {
  const response = await fetch(`${url}/healthz`);
  return {
    status: response.status,
    body: (await response.json()) as {
      status: string;
      obstacles?: { part: string; code: string; message: string }[];
    },
  };
};

test("a version that can't be built answers 503, with a code and nothing of the cause", async () => {
  for (const version of [broken, missing.slug]) {
    const { status, headers, body, text } = await service.ask(token, { query }, { version });
    assert.equal(status, 503);
    assert.equal(headers.get("retry-after"), "30");
    const [{ status: inBody, code, meta, title, detail, ...more }] = body.errors;
    assert.deepEqual(
      [inBody, code, meta, more],
      ["503", "SERVICE_GRAPHQL__VERSION_UNAVAILABLE", { requestedVersion: version }, {}],
    );
    assert.ok(title && detail);
    assert.doesNotMatch(text, /\bat |\.ts|warehouses/);
  }
});

test("the others answer", async () => {
  const { status, codes } = await service.ask(token, { query });
  assert.deepEqual([status, codes], [200, []]);
});

test("health and log say which version, and why", async () => {
  const { status, body } = await healthOf(service.url);
  assert.deepEqual([status, body.status], [200, "degraded"]);
  assert.deepEqual(body.obstacles, [
    {
      part: "versions",
      code: "VERSION_UNAVAILABLE",
      message:
        `${broken} is unavailable: view warehouses is missing. ` +
        `${missing.slug} is unavailable: Its schema can't be built; the log says why.`,
      isPartial: true,
    },
  ]);
  const lines = service.log.filter(({ msg }) => String(msg).includes("can't be built"));
  assert.deepEqual(lines.map(({ version }) => version).sort(), [broken, missing.slug]);
  assert.ok(lines.every(({ err }) => (err as { message: string }).message.length > 0));
});

test("it answers again when it was repaired and all is built again", async () => {
  await service.owner.query(
    `create view api_2026_06_unstable.warehouses with (security_invoker = true) as select * from api_unstable.warehouses`,
  );
  const { rows } = await service.owner.query<{ note: string }>(
    "select obj_description('api_unstable.warehouses'::regclass) as note",
  );
  await service.owner.query(
    `comment on view api_2026_06_unstable.warehouses is $note$${rows[0]!.note}$note$; select api_meta.derive()`,
  );
  await service.owner.query("alter table erp.tag alter name drop not null");
  await assert.rejects(service.app.reload(), /2026-07/);
  const { status, codes } = await service.ask(token, { query }, { version: broken });
  assert.deepEqual([status, codes], [200, []]);
  const { body } = await healthOf(service.url);
  assert.match(
    body.obstacles![0]!.message,
    new RegExp(`^${broken} is different: .*query of warehouses is another; .*tags.name may be null`),
  );
});

test("where no version can be built, nothing starts, and it is said in plain words", async () => {
  await assert.rejects(startProcess({ loginUrl: service.loginUrl, versions: [missing] }), {
    name: "UserError",
    message: /No version of the API can be built.*\n {2}2026-07: /,
  });
});

test("services on the same catalog share a schema, and each answers from its own database", async (t) => {
  const start = async (name: string, change = "select") => {
    const started = await startService({ before: async (owner) => void (await owner.query(change)) });
    t.after(() => started.close());
    await started.owner.query("insert into erp.product (product_number) values ($1)", [name]);
    return started;
  };
  const services = [await start("one"), await start("two")];
  services.push(
    await start(
      "three",
      "comment on view api_unstable.tags is E'@primaryKey id\\n@requiresScopes tags:read\\nOther.'",
    ),
  );
  const [one, two, three] = services.map(({ app }) => app.headReader().schema);
  assert.equal(one, two);
  assert.notEqual(two, three);
  for (const [n, name] of ["one", "two", "three"].entries()) {
    const { body, text } = await services[n]!.ask(await services[n]!.token(), {
      query: "{ products { edges { node { productNumber } } } }",
    });
    assert.deepEqual(body.data?.products.edges, [{ node: { productNumber: name } }], text);
  }
});
