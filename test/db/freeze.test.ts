import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { printVersion } from "../../src/versions/sdl.ts";
import { useDatabase } from "../support/database.ts";

describe("freezing a version", () => {
  const used = useDatabase("template_schema");

  const sdlOf = async (schemaName: string) => {
    const pgService = makePgService({ connectionString: used.database.adminUrl, pubsub: false });
    try {
      return await printVersion({ schemaName }, pgService);
    } finally {
      await pgService.release?.();
    }
  };

  it("gives a clone with the same GraphQL schema, which later changes of the head don't touch", async () => {
    await used.client.query("select api_meta.freeze('api_unstable', 'api_2027_01')");
    await used.client.query("select api_meta.derive()");
    const frozen = await sdlOf("api_2027_01");
    assert.equal(frozen, await sdlOf("api_unstable"));

    await used.client.query(`
      alter table erp.tag rename column name to label;
      alter table erp.tag rename to marker;
      alter table erp.marker add column color text;
      comment on column erp.product.gtin is 'Other words.';
      comment on column erp.marker.color is 'Color of the label.';
      create or replace view api_unstable.tags as select id, label as name, color from erp.marker;
      select api_meta.derive();`);
    assert.equal(await sdlOf("api_2027_01"), frozen);
    const head = await sdlOf("api_unstable");
    assert.match(head, /Color of the label/);
    assert.match(head, /Other words/);
  });

  it("lets the API read the clone through the same policies", async () => {
    await used.client.query(
      "insert into erp.country (iso_code, name) values ('DE', '{\"en-GB\": \"Germany\"}')",
    );
    const login = new pg.Client({ connectionString: used.database.loginUrl });
    await login.connect();
    for (const [scopes, expected] of [
      ["countries:read", [{ name: "Germany" }]],
      ["tags:read", []],
    ] as const) {
      await login.query("begin; set local role service_api");
      await login.query("select set_config('service.scopes', $1, true)", [scopes]);
      assert.deepEqual((await login.query("select name from api_2027_01.countries")).rows, expected);
      await login.query("commit");
    }
    await login.end();
  });
});
