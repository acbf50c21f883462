import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { UserError } from "../../src/errors/user-error.ts";
import { settingsByTopic, parseSettings } from "../../src/process/settings.ts";
import { printEnvironmentFile, printSettingsPage } from "../../src/process/settings/print.ts";

const settings = Object.values(settingsByTopic).flat();
const printed = { ".env.example": printEnvironmentFile, "docs/reference/settings.md": printSettingsPage };

for (const [file, print] of Object.entries(printed)) {
  test(`${file} is what \`npx erp settings\` writes`, async () => {
    const written = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
    assert.equal(written, print(settingsByTopic));
  });
}

test("each setting is declared once, shown in .env.example, and explained in docs/reference/settings.md", async () => {
  const names = settings.map(({ name }) => name);
  assert.ok(names.length > 40);
  assert.equal(new Set(names).size, names.length);
  const shown = printEnvironmentFile(settingsByTopic).matchAll(/^# ([A-Z_]+)=/gm);
  assert.deepEqual(
    [...shown].map(([, name]) => name),
    names,
  );
  const explained = printSettingsPage(settingsByTopic).matchAll(/^\| `([A-Z_]+)` \|/gm);
  assert.deepEqual(
    [...explained].map(([, name]) => name),
    names,
  );
});

test("the values that .env.example shows can be used", () => {
  const values = parseSettings(Object.fromEntries(settings.map(({ name, example }) => [name, example])));
  assert.equal(values.metricsPort, 9100);
  assert.deepEqual(values.webhookAllow, ["127.0.0.1/32", "localhost"]);
});

test("units, groups and values of their own", () => {
  const values = parseSettings({
    STOP_DELAY: "0.5",
    LOCK_TIMEOUT: "2",
    LIMIT_COST: "77",
    RATE_LIMITS_IN: "database",
    TRUST_PROXY: "2",
    NODE_ENV: "test",
    TOKEN_SIGNING_KEY: `${"k".repeat(32)}, ${"l".repeat(32)}`,
    WEBHOOK_PORTS: "443, 8443",
  });
  assert.equal(values.stopDelayMs, 500);
  assert.deepEqual(values.timeoutsMs, { statement: 5_000, mutation: 15_000, lock: 2_000 });
  assert.equal(values.limits.cost, 77);
  assert.equal(values.sharedRates, true);
  assert.equal(values.trustProxy, 2);
  assert.equal(values.production, false);
  assert.deepEqual(values.tokenSigningKeys, ["k".repeat(32), "l".repeat(32)]);
  assert.deepEqual(values.webhookPorts, [443, 8443]);
  assert.equal(parseSettings({ TRUST_PROXY: "10.0.0.0/8" }).trustProxy, "10.0.0.0/8");
  assert.equal(parseSettings({}).trustProxy, false);
  assert.deepEqual(parseSettings({}).secretsKeys, []);
  assert.deepEqual(parseSettings({}).webhookPorts, [443, 80]);
});

test("an empty variable counts as one that isn't set", () => {
  const empty = Object.fromEntries(settings.map(({ name }) => [name, " "]));
  assert.deepEqual(parseSettings(empty), parseSettings({}));
});

test("the explorer is served in development, and where it is asked for", () => {
  const served = (variables: Record<string, string>) => parseSettings(variables).explorer;
  assert.equal(served({}), true);
  assert.equal(served({ NODE_ENV: "production" }), false);
  assert.equal(served({ NODE_ENV: "production", EXPLORER: "true" }), true);
  assert.equal(served({ EXPLORER: "false" }), false);
});

test("every wrong setting is named with what is expected, and with its value unless that may be a secret", () => {
  const wrong = {
    NODE_ENV: "staging",
    PORT: "65536",
    PUBLIC_URL: "ftp://hunter2",
    DATABASE_URL: "mysql://root:hunter2@localhost/erp",
    DATABASE_POOL_SIZE: "0",
    TOKEN_SIGNING_KEY: `${"k".repeat(32)},hunter2`,
    SECRETS_KEY: `hunter2${"A".repeat(35)}=`,
    EXPLORER: "yes",
    STOP_DELAY: "-1",
    WEBHOOK_ALLOW: "https://example.com",
    WEBHOOK_PORTS: "443,http",
    LIMIT_DEPTH: "deep",
  };
  assert.throws(
    () => parseSettings(wrong),
    (error: unknown) => {
      assert.ok(error instanceof UserError);
      const lines = error.message.split("\n").sort();
      assert.deepEqual(lines, [
        "  DATABASE_POOL_SIZE: expected a whole number from 1 to 500, not “0”",
        "  DATABASE_URL: expected a URL that begins with `postgres:` or `postgresql:`",
        "  EXPLORER: expected `true` or `false`, not “yes”",
        "  LIMIT_DEPTH: expected a whole number from 1 to 1,000,000,000, not “deep”",
        "  NODE_ENV: expected `development`, `production`, or `test`, not “staging”",
        "  PORT: expected a whole number from 0 to 65,535, not “65536”",
        "  PUBLIC_URL: expected a URL that begins with `http:` or `https:`",
        "  SECRETS_KEY: expected 32 bytes in base64, as `openssl rand -base64 32` writes them; separate several by commas",
        "  STOP_DELAY: expected seconds, from 0 to 3,600, not “-1”",
        "  TOKEN_SIGNING_KEY: expected at least 32 characters; separate several by commas",
        "  WEBHOOK_ALLOW: expected host names, addresses, and ranges such as `10.0.0.0/8`, separated by commas, not “https://example.com”",
        "  WEBHOOK_PORTS: expected port numbers, separated by commas, not “443,http”",
        "These settings are invalid (see docs/reference/settings.md):",
      ]);
      return true;
    },
  );
});

for (const port of ["http", "-1", "4000.5"]) {
  test(`PORT=${port} is refused`, () => assert.throws(() => parseSettings({ PORT: port }), UserError));
}
