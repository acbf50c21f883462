import assert from "node:assert/strict";
import { test } from "node:test";
import { AggregatorRegistry, Histogram, Registry } from "prom-client";
import { DurationHistograms } from "../../src/http/tallies.ts";

const [name, help, buckets] = ["some_seconds", "Some durations.", [0.005, 0.1, 1]];
const labels = [
  { operation: "0123", name: "Orders", version: "unstable" },
  { operation: "other", name: "", version: "2026-06-unstable" },
];
const durations = [0.001, 0.005, 0.0051, 0.1, 0.99, 1, 1.01, 30];

test("durations that are added up here read as prom-client's own histogram", async () => {
  const [here, theirs] = [new Registry(), new Registry()];
  const tallies = new DurationHistograms(here, { name, help, buckets });
  const labelNames = ["operation", "name", "version"];
  const histogram = new Histogram({ ...{ name, help, buckets, labelNames }, registers: [theirs] });
  for (const label of labels) {
    for (const seconds of durations) {
      tallies.add(label, seconds);
      histogram.observe({ ...label }, seconds);
    }
  }
  assert.equal(await here.metrics(), await theirs.metrics());
  const sums = async (registry: Registry) => {
    const json = await registry.getMetricsAsJSON();
    return AggregatorRegistry.aggregate([json, json]).metrics();
  };
  assert.equal(await sums(here), await sums(theirs));
});
