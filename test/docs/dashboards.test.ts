import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { z } from "zod";

// What Grafana's JSON model says of a dashboard, as far as ours use it. What they ask for: alerts.test.ts

const folder = fileURLToPath(new URL("../../ops/grafana/", import.meta.url));
const dashboards = (await readdir(folder)).filter((file) => file.endsWith(".json"));
const parsed = async (file: string) => JSON.parse(await readFile(folder + file, "utf8"));

const text = z.string().min(1);
const source = z.strictObject({ type: z.literal("prometheus"), uid: z.literal("${datasource}") });
const variables = z.tuple([
  z.strictObject({
    ...{ name: z.literal("datasource"), type: z.literal("datasource"), label: text },
    query: z.literal("prometheus"),
  }),
  z.strictObject({
    ...{ name: z.literal("instance"), type: z.literal("query"), label: text, datasource: source },
    ...{ query: text, definition: text },
    // 0: never, 1: when the dashboard is opened, 2: when the time changes
    refresh: z.literal([1, 2]),
    ...{ multi: z.literal(true), includeAll: z.literal(true), allValue: z.literal(".*") },
    current: z.strictObject({ text: z.literal("All"), value: z.literal("$__all") }),
  }),
]);
const place = z
  .strictObject({
    ...{ x: z.int().min(0).max(23), y: z.int().min(0) },
    ...{ w: z.int().min(1).max(24), h: z.int().min(1) },
  })
  .refine(({ x, w }) => x + w <= 24);
const thresholds = z.strictObject({
  mode: z.literal("absolute"),
  // The first is that of all below the second
  steps: z
    .array(z.strictObject({ color: text, value: z.number().nullable() }))
    .refine((steps) =>
      steps.every(({ value }, n) => (n === 0 ? value === null : value! > (steps[n - 1]!.value ?? 0))),
    ),
});
const lines = z.strictObject({
  ...{ drawStyle: z.literal(["line", "bars", "points"]), lineWidth: z.int(), fillOpacity: z.int().max(100) },
  ...{ showPoints: z.literal(["auto", "never", "always"]), spanNulls: z.boolean() },
  stacking: z.strictObject({ mode: z.literal(["none", "normal", "percent"]) }),
  thresholdsStyle: z.strictObject({ mode: z.literal(["off", "line", "area", "dashed"]) }).optional(),
});
const fieldConfig = z.strictObject({
  defaults: z.strictObject({
    unit: z.literal(["bytes", "ops", "percentunit", "reqps", "s", "short"]),
    min: z.number().optional(),
    ...{ thresholds: thresholds.optional(), custom: lines.optional() },
  }),
  overrides: z.tuple([]),
});
const target = z.strictObject({
  ...{ datasource: source, expr: text, legendFormat: z.string(), refId: z.string().regex(/^[A-Z]$/) },
  ...{ format: z.literal("table").optional(), instant: z.literal(true).optional() },
});
const panel = {
  ...{ id: z.int().positive(), title: text, gridPos: place },
  ...{ description: z.string(), datasource: source, targets: z.array(target).min(1), fieldConfig },
};
const row = { id: panel.id, title: text, gridPos: place, collapsed: z.literal(false), panels: z.tuple([]) };
const legend = { displayMode: z.literal(["list", "table"]), placement: z.literal(["bottom", "right"]) };
const panels = z.discriminatedUnion("type", [
  z.strictObject({ ...row, type: z.literal("row") }),
  z.strictObject({
    ...{ ...panel, type: z.literal("stat") },
    options: z.strictObject({
      reduceOptions: z.strictObject({ calcs: z.tuple([z.literal("lastNotNull")]) }),
      ...{ colorMode: z.literal(["value", "background", "none"]), graphMode: z.literal(["area", "none"]) },
    }),
  }),
  z.strictObject({
    ...{ ...panel, type: z.literal("timeseries") },
    options: z.strictObject({
      legend: z.strictObject(legend),
      tooltip: z.strictObject({
        mode: z.literal(["single", "multi"]),
        sort: z.literal(["none", "asc", "desc"]),
      }),
    }),
  }),
  z.strictObject({
    ...{ ...panel, type: z.literal("table") },
    transformations: z.array(
      z.strictObject({ id: z.literal(["merge", "organize"]), options: z.looseObject({}) }),
    ),
  }),
]);
const time = z.string().regex(/^now(-\d+[smhdwMy])?$/);
const dashboard = z.strictObject({
  // An address of it, /d/uid
  uid: z.string().regex(/^[\w-]{8,40}$/),
  ...{ title: text, description: text, tags: z.array(text), timezone: z.literal(["", "utc", "browser"]) },
  // Grafana 10.3, and later ones read it
  schemaVersion: z.literal(39),
  ...{ version: z.int().positive(), editable: z.boolean(), refresh: z.string().regex(/^\d+[smh]$/) },
  time: z.strictObject({ from: time, to: time }),
  links: z.array(
    z.strictObject({
      ...{ type: z.literal("dashboards"), title: text, tags: z.array(text) },
      ...{ asDropdown: z.boolean(), includeVars: z.boolean(), keepTime: z.boolean() },
    }),
  ),
  templating: z.strictObject({ list: variables }),
  panels: z.array(panels),
});

/** What Grafana sets, beside the variables of a dashboard. */
const builtIn = ["__rate_interval", "__all"];

test("dashboards have the form that Grafana reads", async () => {
  assert.ok(dashboards.length >= 3);
  const [uids, titles] = [new Set<string>(), new Set<string>()];
  for (const file of dashboards) {
    const raw = await parsed(file);
    const { data, error } = dashboard.safeParse(raw);
    assert.ok(data, `${file}: ${error && z.prettifyError(error)}`);
    assert.ok(!uids.has(data.uid) && !titles.has(data.title), file);
    uids.add(data.uid);
    titles.add(data.title);
    const known = new Set([...builtIn, ...data.templating.list.map(({ name }) => name)]);
    for (const [, name] of JSON.stringify(raw).matchAll(/\$\{?(\w+)/g))
      assert.ok(known.has(name!), `${file}: $${name}`);
    const [, instance] = data.templating.list;
    assert.equal(instance.definition, instance.query);
    // Others of the dashboards are linked to by a tag that they have
    for (const { tags } of data.links) assert.deepEqual(tags, data.tags);
    assert.equal(new Set(data.panels.map(({ id }) => id)).size, data.panels.length);
    for (const one of data.panels) {
      const targets = one.type === "row" ? [] : one.targets;
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, `${file}: ${one.title}`);
      for (const { format } of targets) assert.equal(format === "table", one.type === "table", one.title);
    }
  }
});

test("no panel lies on another one, and none hangs below a gap", async () => {
  for (const file of dashboards) {
    const { panels: all } = dashboard.parse(await parsed(file));
    const taken = new Set<string>();
    for (const { title, gridPos } of all)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(!taken.has(`${x} ${y}`), `${file}: ${title} lies on another panel`);
          taken.add(`${x} ${y}`);
        }
    // Grafana moves panels up as far as there is room
    for (const { title, gridPos } of all) {
      const above = Array.from({ length: gridPos.w }, (_, n) => `${gridPos.x + n} ${gridPos.y - 1}`);
      assert.ok(gridPos.y === 0 || above.some((cell) => taken.has(cell)), `${file}: ${title} hangs`);
    }
  }
});
