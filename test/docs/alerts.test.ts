import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { collectDefaultMetrics, Registry } from "prom-client";
import { errorCodes } from "../../src/errors/api-error.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFile(join(root, file), "utf8");
const alerts = (await read("ops/alerts.yml")).split(/^ +- alert: /m).slice(1);
const nameOf = (alert: string) => /^\w+/.exec(alert)![0];

test("each alert has its expression, its severity, and a section of the runbook, which has no others", async () => {
  const guide = await read("docs/operating.md");
  const [, section] = /^## Alerts\n([^]*?)^## /m.exec(guide)!;
  const described = [...section!.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(described, alerts.map(nameOf));
  for (const alert of alerts)
    for (const part of [
      /^ +expr: \S/m,
      /^ +for: \d+m$/m,
      /^ +labels: \{ severity: (page|ticket) \}$/m,
      /summary: ".+\."/,
    ])
      assert.match(alert, part);
});

test("alerts ask for figures and codes that there are", async () => {
  const files = (await readdir(join(root, "src"), { recursive: true })).filter((file) =>
    file.endsWith(".ts"),
  );
  const sources = await Promise.all(files.map((file) => read(join("src", file))));
  const own = sources.flatMap((text) =>
    [...text.matchAll(/name: "(service_\w+)"/g)].map(([, name]) => name!),
  );
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const known = new Set(["up", ...own, ...registry.getMetricsAsArray().map(({ name }) => name)]);
  registry.clear();
  for (const alert of alerts) {
    const [, expression] = /expr: ([^]*?)\n +for:/.exec(alert)!;
    const figures = [...expression!.matchAll(/\b(up|(?:service|nodejs|process)_\w+)\b(?=[{[ ])/g)].map(
      ([, name]) => name!,
    );
    assert.ok(figures.length > 0, expression);
    for (const figure of figures) assert.ok(known.has(figure.replace(/_bucket$/, "")), figure);
    const [, reasons] = /reason=~"([^"]+)"/.exec(expression!) ?? [];
    for (const reason of reasons?.split("|") ?? []) assert.ok(Object.hasOwn(errorCodes, reason), reason);
  }
});
