import assert from "node:assert/strict";
import { it } from "node:test";
import { chartOf } from "../../bench/report/chart.ts";
import { shareOf, thriftShareOf } from "../../bench/report/figures.ts";
import type { Cell } from "../../bench/measure/rounds.ts";
import { limit } from "../../bench/contestants/limit.ts";
import { service } from "../../bench/contestants/service.ts";
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
  assert.equal(shareOf(cells[0]!, cells), 0.8);
  assert.equal(thriftShareOf(cells[0]!, cells), 0.5);
  assert.equal(shareOf(cells[1]!, cells), 1);
});

it("draws a bar for everybody but LIMIT, as long as its share", () => {
  const options = readOptions(["--connections", "1"]);
  const picture = chartOf({ cells, contestants: [service, limit], options });
  const bars = [...picture.matchAll(/<rect class="c\d" x="46" y="[\d.]+" width="([\d.]+)"/g)];
  const line = /<line class="limit" x1="([\d.]+)"/.exec(picture);
  // The first is the legend's
  const [length, atLimit] = [Number(bars.at(-1)![1]), Number(line![1]) - 46];
  assert.ok(Math.abs(length / atLimit - 0.8) < 0.01, `${length} of ${atLimit}`);
  assert.match(picture, />0\.80</);
});
