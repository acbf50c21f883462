import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { environment, settingsFrom } from "../../src/process/settings.ts";
import { UserError } from "../../src/errors/user-error.ts";

const example = await readFile(new URL("../../.env.example", import.meta.url), "utf8");
const examples = [...example.matchAll(/^# ([A-Z_]+)=(.*)$/gm)].map(
  ([, name, value]) => [name!, value!] as const,
);

test(".env.example has every setting once, and nothing else", () => {
  assert.deepEqual(examples.map(([name]) => name).sort(), Object.keys(environment.shape).sort());
});

test("the values that .env.example shows can be used", () => {
  settingsFrom(Object.fromEntries(examples));
});

test("the defaults are those that .env.example shows", () => {
  const optional = [
    "METRICS_PORT",
    "PUBLIC_URL",
    "DATABASE_URL",
    "TOKEN_SIGNING_KEY",
    "RUN_AS",
    "SECRETS_KEY",
    "EXPLORER",
    "EXCHANGE_RATES_FROM",
    "WEBHOOK_ALLOW",
    "TRUST_PROXY",
  ];
  const shown = examples.filter(([name]) => !optional.includes(name));
  assert.deepEqual(settingsFrom(Object.fromEntries(shown)), settingsFrom({}));
});

test("an empty variable counts as one that isn't set", () => {
  const empty = Object.fromEntries(Object.keys(environment.shape).map((name) => [name, ""]));
  assert.deepEqual(settingsFrom(empty), settingsFrom({}));
});

test("the explorer is served in development, and where it is asked for", () => {
  const served = (variables: Record<string, string>) => settingsFrom(variables).explorer;
  assert.equal(served({}), true);
  assert.equal(served({ NODE_ENV: "production" }), false);
  assert.equal(served({ NODE_ENV: "production", EXPLORER: "true" }), true);
  assert.equal(served({ EXPLORER: "false" }), false);
});

test("every wrong setting is named, without its value, which may be a secret", () => {
  const wrong = {
    NODE_ENV: "staging",
    PORT: "65536",
    PUBLIC_URL: "ftp://hunter2",
    DATABASE_URL: "mysql://root:hunter2@localhost/erp",
    DATABASE_POOL_SIZE: "0",
    TOKEN_SIGNING_KEY: `${"k".repeat(32)},hunter2`,
    SECRETS_KEY: `hunter2${"A".repeat(35)}=`,
    EXPLORER: "yes",
    WORKER_CONCURRENCY: "-1",
    WEBHOOK_ALLOW: "https://hunter2.example",
    WEBHOOK_PORTS: "443,hunter2",
    LOG_LEVEL: "loud",
  };
  assert.throws(
    () => settingsFrom(wrong),
    (error: unknown) => {
      assert.ok(error instanceof UserError);
      for (const name of Object.keys(wrong)) assert.match(error.message, new RegExp(`^  ${name}: `, "m"));
      assert.doesNotMatch(error.message, /hunter2|staging|65536/);
      return true;
    },
  );
});

for (const port of ["http", "-1", "4000.5"]) {
  test(`PORT=${port} is refused`, () => assert.throws(() => settingsFrom({ PORT: port }), UserError));
}
