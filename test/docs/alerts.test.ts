import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { watchBacklog } from "../../src/http/backlog-metrics.ts";
import { backlogReader } from "../../src/jobs/backlog.ts";
import { Positions } from "../../src/replicas/positions.ts";
import { errorCodes } from "../../src/errors/api-error.ts";
import { openMerchants } from "../lib/merchants.ts";
import type { TestMerchants } from "../lib/merchants.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFile(join(root, file), "utf8");
const alerts = (await read("ops/alerts.yml")).split(/^ +- alert: /m).slice(1);
const nameOf = (alert: string) => /^\w+/.exec(alert)![0];
const dashboards = (await readdir(join(root, "ops/grafana"))).filter((file) => file.endsWith(".json"));

// A service with everything that there are figures of
let service: TestService;
let many: TestMerchants;
before(async () => {
  const urls = ["postgres://nobody@127.0.0.1:1/none"];
  const replicas = { urls, pool: { max: 1 }, maxLagMs: 1_000, positions: new Positions(null) };
  service = await startService({ replicas });
  many = await openMerchants({ count: 0 });
  watchBacklog(service.app.metrics.registry, backlogReader(service.pool));
  await service.owner.query(`insert into events.webhook_subscription (topic, url, api_version, enabled)
    values ('order.created', 'https://example.com/', 'unstable', false)`);
  const token = await service.token();
  for (const query of ["{ __typename }", "{ nothing }"]) await service.ask(token, { query });
});
after(async () => {
  await many?.close();
  await service.close();
});

/** The figures of the service: for each name, and each of its labels, the values. */
async function figures(): Promise<Map<string, Map<string, Set<string>>>> {
  const found = new Map<string, Map<string, Set<string>>>();
  const registries = [service.app.metrics.registry, many.serving.figures];
  const texts = await Promise.all(registries.map((registry) => registry.metrics()));
  for (const line of texts.join("\n").split("\n")) {
    const [, name, labels = ""] = /^([a-z]\w+)(?:\{(.*)\})? [-\d.e+Na]+$/.exec(line) ?? [];
    if (name === undefined) continue;
    const known = found.get(name) ?? new Map<string, Set<string>>();
    for (const [, label, value] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
      known.set(label!, (known.get(label!) ?? new Set()).add(value!));
    found.set(name, known);
  }
  return found;
}

interface Expression {
  place: string;
  expression: string;
  /** How a line of a dashboard is called. */
  legend: string;
}

/** The expressions of alerts and dashboards. */
async function expressions(): Promise<Expression[]> {
  const ofAlerts = alerts.map((alert): Expression => {
    return { place: nameOf(alert), expression: /expr: ([^]*?)\n +for:/.exec(alert)![1]!, legend: "" };
  });
  const ofPanels = await Promise.all(
    dashboards.map(async (file) => {
      const { panels } = JSON.parse(await read(`ops/grafana/${file}`));
      return panels.flatMap(({ title, targets = [] }: any) =>
        targets.map(({ expr, legendFormat }: any): Expression => {
          return { place: `${file}: ${title}`, expression: expr, legend: legendFormat };
        }),
      );
    }),
  );
  return [...ofAlerts, ...ofPanels.flat()];
}

test("each alert has its expression, its severity, and a section of the runbook, which has no others", async () => {
  const guide = await read("docs/guides/runbook.md");
  const [, section] = /^## Alerts\n([^]*?)^## /m.exec(guide)!;
  const described = [...section!.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(described.sort(), alerts.map(nameOf).sort());
  for (const alert of alerts)
    for (const part of [
      /^ +expr: \S/m,
      /^ +for: \d+m$/m,
      /^ +labels: \{ severity: (page|ticket) \}$/m,
      /summary: ".+\."/,
    ])
      assert.match(alert, part);
});

// Labels that Prometheus adds
const added = ["job", "instance"];

test("alerts and dashboards ask for figures, labels and values that a running service has", async () => {
  const known = await figures();
  const all = await expressions();
  assert.ok(all.length > 50);
  for (const { place, expression, legend } of all) {
    const [asked, own] = [new Set<string>(added), [] as string[]];
    for (const [, name, , selector = ""] of expression.matchAll(
      /\b(up|(?:service|nodejs|process)_\w+)\b(\{((?:[^"}]|"[^"]*")*)\})?/g,
    )) {
      if (name === "up") continue;
      const labels = known.get(name!);
      assert.ok(labels, `${place}: ${name}`);
      own.push(name!);
      for (const label of labels.keys()) asked.add(label);
      for (const [, label, operator, value] of selector.matchAll(/(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"/g)) {
        assert.ok(added.includes(label!) || labels.has(label!), `${place}: ${name} has no ${label}`);
        if (added.includes(label!)) continue;
        if (operator === "=") assert.ok(labels.get(label!)!.has(value!), `${place}: ${label}="${value}"`);
        if (label === "code" && operator === "=~")
          for (const code of value!.split("|"))
            assert.ok(Object.hasOwn(errorCodes, code), `${place}: ${code}`);
      }
    }
    assert.ok(own.length > 0 || expression.includes("up{"), place);
    const lists = [...expression.matchAll(/\b(by|on) \(([\w, ]+)\)/g)];
    for (const [, , list] of lists)
      for (const label of list!.split(/, */)) assert.ok(asked.has(label), `${place}: by ${label}`);
    // A sum has the labels that it is made by, and no others
    const by = lists.filter(([, word]) => word === "by").map(([, , list]) => list!.split(/, */));
    const isSum = /\b(sum|max|min|avg|count) ?(by )?\(/.test(expression);
    const shown = by.length > 0 ? by.flat() : isSum ? [] : [...asked];
    for (const [, label] of legend.matchAll(/\{\{(\w+)\}\}/g))
      assert.ok(shown.includes(label!), `${place}: no ${label} to show`);
  }
});

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

test(
  "promtool understands the alerts, and sees each fire that should",
  { skip: !hasPromtool && "no promtool" },
  () => {
    for (const args of [
      ["check", "rules", "ops/alerts.yml"],
      ["test", "rules", "test/docs/alerts.promtool.yml"],
    ]) {
      const { status, stdout, stderr } = spawnSync("promtool", args, { cwd: root, encoding: "utf8" });
      assert.equal(status, 0, stdout + stderr);
    }
  },
);
