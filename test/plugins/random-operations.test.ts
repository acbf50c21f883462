import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { getNamedType, parse, validate } from "postgraphile/graphql";
import { encodeCursor } from "../../src/graphql/cursor.ts";
import { seed as firstSeed } from "../lib/seed.ts";
import { randomOperation } from "./random-operations.ts";
import type { RandomOptions } from "./random-operations.ts";
import { sampleGid, openSample } from "./support.ts";
import type { Sample } from "./support.ts";

let sample: Sample;
before(async () => void (sample = await openSample()));
after(() => sample?.close());

const types = ["Product", "Tag", "Batch", "Location", "Currency", "Country"];
const filters: Record<string, string[]> = {
  ProductFilterInput: [
    "{}",
    "{ stock: { gt: 50 } }",
    "{ OR: [{ active: { equals: true } }, { NOT: { name: { isNull: true } } }] }",
  ],
  TagFilterInput: ['{ name: { endsWith: "2" } }', "{ NOT: { name: { in: [] } } }"],
  BatchFilterInput: [
    "{ state: { in: [Open, Closed] } }",
    `{ productId: { equals: "${sampleGid("Product", 2)}" } }`,
  ],
};

const argument: RandomOptions["argument"] = (owner, field, name, random) => {
  const rare = random(3) === 0;
  const someId = () => sampleGid(types[random(types.length)]!, 1 + random(8));
  if (name === "id") return JSON.stringify(someId());
  if (name === "ids") return JSON.stringify(Array.from({ length: random(4) }, someId));
  if (name === "last") return random(6) === 0 ? ["0", "1", "3", "null"][random(4)] : undefined;
  if (name === "first") return rare ? undefined : ["0", "1", "3", "null"][random(4)];
  if (name === "filter") {
    const choices = filters[String(field.args.find((candidate) => candidate.name === name)!.type)] ?? [
      "{}",
      "null",
    ];
    return rare ? choices[random(choices.length)] : undefined;
  }
  if (name === "after") {
    const type = getNamedType(field.type).name.replace("Connection", "");
    const cursor = encodeCursor(`${owner}.${field.name}`, sampleGid(type, 1 + random(6)).slice(-36));
    return rare ? JSON.stringify(cursor) : undefined;
  }
  return undefined;
};

describe("random operations", () => {
  const seeds = Number(process.env.RANDOM_OPERATIONS ?? 40);
  it(`answer without faults, ${seeds} times (RANDOM_OPERATIONS sets how often, SEED which)`, async () => {
    let tried = 0;
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      const source = randomOperation({ schema: sample.schema, seed, depth: 3 + (seed % 4), argument });
      if (source.length > 20_000) continue;
      assert.deepEqual(validate(sample.schema, parse(source)).map(String), [], source);
      const { errors } = await sample.run(source);
      const faults = errors.filter(({ code }) => code !== "BAD_USER_INPUT");
      assert.deepEqual(faults, [], `seed ${seed}: ${source}`);
      tried++;
    }
    assert.ok(tried > seeds / 2, `${tried} operations`);
  });
});
