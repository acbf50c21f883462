import assert from "node:assert/strict";
import { test } from "node:test";
import { Shadow, nameShadow } from "../../src/migrations/shadow.ts";
import { useDatabase } from "../lib/database.ts";

// What it is for, and that it leaves others' databases alone: test/commands/watch.test.ts

const used = useDatabase("template0");

test("the name of a shadow is one that Postgres keeps, and another for each database", () => {
  assert.equal(nameShadow("shop"), "shop_rehearsal");
  const long = ["a", "b"].flatMap((end) => [`${"x".repeat(62)}${end}`, `${"ü".repeat(30)}${end}`]);
  const names = [...long, "x".repeat(53), "x".repeat(54), "ü".repeat(26), `x${"ü".repeat(27)}`];
  const shadows = names.map(nameShadow);
  assert.equal(new Set([...names, ...shadows, ...shadows.map(nameShadow)]).size, 3 * names.length);
  for (const shadow of shadows) {
    assert.ok(Buffer.byteLength(shadow) <= 63, shadow);
    assert.match(shadow, /^(x*|x?ü*)(_[0-9a-f]{24})?_rehearsal$/);
  }
});

test("who may not make databases is told so once, and works on without a shadow", async () => {
  const lines: string[] = [];
  const onWait = (line: string) => void lines.push(line);
  const shadow = new Shadow(used.database.loginUrl, { onWait });
  await shadow.follow([], "");
  await shadow.follow([], "");
  await shadow.close();
  assert.deepEqual(lines, ["A save is tried on the database itself: permission denied to create database."]);
});

test("a shadow that can neither be made nor dropped ends nothing, as when Postgres is away", async () => {
  const lines: string[] = [];
  const away = Object.assign(new URL(used.database.adminUrl), { host: "127.0.0.1:1" }).href;
  const shadow = new Shadow(away, { onWait: (line) => void lines.push(line) });
  await shadow.follow([], "");
  await shadow.close();
  assert.deepEqual(lines, []);
});
