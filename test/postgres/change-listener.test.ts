import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { after, before, test } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { createPool } from "../../src/postgres/pool.ts";
import { ChangeListener } from "../../src/postgres/change-listener.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";
import { until } from "../lib/until.ts";

let database: TestDatabase;
before(async () => void (database = await openTestDatabase("template_schema")));
after(() => database.close());

const changes = { channel: "service_credential_change", name: "changes", applicationName: "test listener" };
const quiet = pino({ level: "silent" });
const listenAt = (connectionString: string, onChange = () => {}) =>
  new ChangeListener(createPool(connectionString, { max: 1 }), quiet, changes, onChange);

async function assertClosesAtOnce(listener: ChangeListener): Promise<void> {
  const start = performance.now();
  await listener.close();
  assert.ok(performance.now() - start < 4_000, "before its next check");
  assert.equal(listener.isListening, false);
}

test("it hears changes, and only committed ones", async () => {
  let changes = 0;
  const listener = listenAt(database.loginUrl, () => changes++);
  await until(() => listener.isListening);
  changes = 0;
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query("begin; select pg_notify('service_credential_change', ''); rollback");
  await owner.query("select pg_notify('service_credential_change', '')");
  await until(() => changes > 0);
  assert.equal(changes, 1);
  await owner.end();
  await assertClosesAtOnce(listener);
});

test("it closes at once, in any state", async () => {
  await assertClosesAtOnce(listenAt(database.loginUrl)); // about to connect
  const connecting = listenAt(database.loginUrl);
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  await assertClosesAtOnce(connecting);
  await assertClosesAtOnce(listenAt("postgres://127.0.0.1:1/nowhere")); // refused
});

test("a server that takes the call but says nothing", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket.on("error", () => {}))).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const listener = listenAt(`postgres://nobody@127.0.0.1:${port}/nowhere`);
  await until(() => sockets.length > 0);
  assert.equal(listener.isListening, false);
  await assertClosesAtOnce(listener);
  for (const socket of sockets) socket.destroy();
  server.close();
});
