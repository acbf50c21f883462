import assert from "node:assert/strict";
import { it } from "node:test";
import { XMLValidator } from "fast-xml-parser";
import { chartOf } from "../../bench/report/chart.ts";
import { speedShare } from "../../bench/report/figures.ts";
import type { Cell } from "../../bench/measure/rounds.ts";
import { limit } from "../../bench/contestants/limit.ts";
import { serviceContestant } from "../../bench/contestants/service.ts";
import { readOptions } from "../../bench/options.ts";

const cell = (contestant: string, perSecond: number[], cpu: number): Cell => ({
  contestant,
  query: "A",
  connections: 1,
  rounds: perSecond.map((rate) => ({
    perSecond: rate,
    medianTime: 1,
    slowTime: 2,
    nodeCpu: cpu,
    postgresCpu: cpu,
    requests: 10,
    failures: 0,
  })),
});
const cells = [cell("service", [80, 40, 75], 2), cell("limit", [100, 50, 100], 1)];

it("compares with LIMIT round by round", () => {
  assert.equal(speedShare(cells[0]!, cells), 0.8);
  assert.equal(speedShare(cells[1]!, cells), 1);
});

it("draws a bar for everybody but LIMIT, as long as its share", () => {
  const options = readOptions(["--connections", "1"]);
  const picture = chartOf({ cells, contestants: [serviceContestant, limit], options, earlier: null });
  assert.equal(XMLValidator.validate(picture), true);
  const attributesOf = (tag: string) =>
    Object.fromEntries(tag.matchAll(/([a-z\d-]+)="([^"]*)"/g).map(([, name, value]) => [name!, value!]));
  const bars = picture.match(/<rect [^>]*>/g)!.map(attributesOf);
  assert.deepEqual(
    bars.map((bar) => bar["aria-label"]),
    ["service"],
  );
  const line = attributesOf(/<line [^>]*>/.exec(picture.slice(picture.indexOf('aria-label="rule"')))![0]);
  const [length, atLimit] = [Number(bars[0]!.width), Number(line.x1) - Number(bars[0]!.x)];
  assert.ok(Math.abs(length / atLimit - 0.8) < 0.01, `${length} of ${atLimit}`);
  assert.match(picture, />0\.80</);
});
