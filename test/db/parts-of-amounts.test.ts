import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useDatabase, queryRows } from "../lib/database.ts";

describe("the parts of an amount", () => {
  const used = useDatabase("template_schema");
  const rows = queryRows(() => used.client);
  const one = async (text: string) => (await rows(text))[0].value;

  it("are rounded half away from zero, also where a bigint would overflow", async () => {
    assert.equal(await one("select valuation.part_of(5, 1, 2) as value"), "3");
    assert.equal(await one("select valuation.part_of(-5, 1, 2) as value"), "-3");
    assert.equal(await one("select valuation.part_of(5, -1, 2) as value"), "-3");
    assert.equal(await one("select valuation.part_of(4, 1, 3) as value"), "1");
    assert.equal(
      await one("select valuation.part_of(9000000000000000001, 1000000000, 2000000000) as value"),
      "4500000000000000001",
    );
    assert.equal(
      await one("select valuation.part_of(-9000000000000000001, 1000000000, 2000000000) as value"),
      "-4500000000000000001",
    );
  });

  it("are divided by largest remainder", async () => {
    const shares = (amount: string, weights: string) =>
      one(
        `select array(select trim_scale(s)::text from unnest(erp.shares(${amount}, '{${weights}}')) s) as value`,
      );
    assert.deepEqual(await shares("1", "1,1,1"), ["0.333334", "0.333333", "0.333333"]);
    assert.deepEqual(await shares("-1", "1,1,1"), ["-0.333334", "-0.333333", "-0.333333"]);
    assert.deepEqual(await shares("0.000001", "1,2,0"), ["0", "0.000001", "0"]);
    assert.deepEqual(await shares("7", "7"), ["7"]);
  });
});
