import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createCredential, deleteCredential, rotateCredential } from "../../src/auth/credentials.ts";
import {
  createAdministrator,
  deactivateAdministrator,
  resetPassword,
} from "../../src/auth/administrators.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { loggedIn, password, textOf, HttpBrowser } from "./browser.ts";

let service: TestService;
before(
  async () => void (service = await startService({ settings: { explorer: false, trustProxy: "loopback" } })),
);
after(() => service.close());

interface Event {
  actor: string;
  name: string | null;
  address: string | null;
  action: string;
  subject: string | null;
  details: Record<string, unknown>;
}

/** The audit entries since a time, oldest first. */
async function eventsSince(start: string): Promise<Event[]> {
  const { rows } = await service.owner.query(
    `select actor, a.name, host(address) as address, action, subject, details from auth.audit_event e
     left join auth.administrator a on a.id = e.administrator_id where e.id > $1 order by e.id`,
    [start],
  );
  return rows;
}
const now = async (): Promise<string> => (await service.owner.query("select uuidv7() as id")).rows[0].id;

test("what is done in the browser is noted with actor, address, action and API credential", async () => {
  const start = await now();
  const visitor = await loggedIn(service, "berta");
  visitor.headers = { "x-forwarded-for": "192.0.2.7" };
  const { html } = await visitor.post("/admin/tokens/new", { name: "Shop", "access.orders": "write" });
  const [, id] = /href="\/admin\/tokens\/([0-9a-f-]{36})"/.exec(html)!;
  const path = `/admin/tokens/${id}`;
  const secret = /<code id="secret">([^<]+)/.exec(html)![1]!;
  const present = /<code id="client-id">([^<]+)/.exec(html)![1]!;
  await visitor.post(`${path}/change`, {
    name: "Web shop",
    "access.orders": "read",
    "access.stocks": "read",
  });
  await visitor.post(`${path}/change`, {
    name: "Web shop",
    "access.orders": "read",
    "access.stocks": "read",
  });
  await visitor.post(`${path}/rotate`, { present, overlap: "24" });
  await visitor.post(`${path}/deactivate`);
  await visitor.post(`${path}/deactivate`);
  await visitor.post(`${path}/activate`, {}, { on: `${path}/deactivate` });

  const page = textOf(await visitor.get(path));
  for (const text of [
    "Changed the API credential",
    "Previous name: “Shop”",
    "Added: Stocks (read)",
    "Removed: Orders (write)",
    "The old client ID works until",
    "berta · from 192.0.2.7",
  ])
    assert.ok(page.includes(text), `${text} in ${page}`);

  await visitor.post(`${path}/delete`);
  const chosen = "another long password";
  await visitor.post("/admin/account", { present: password, chosen, repeated: chosen });
  await visitor.post("/admin/log-out", {}, { on: "/admin/account" });
  const events = await eventsSince(start);
  assert.deepEqual(
    events.map(({ action, subject }) => `${action} ${subject}`),
    [
      "administrator.created berta",
      "session.started berta",
      "credential.created Shop",
      "credential.changed Web shop",
      "credential.rotated Web shop",
      "credential.deactivated Web shop",
      "credential.activated Web shop",
      "credential.deleted Web shop",
      "administrator.password_changed berta",
      "session.ended berta",
    ],
  );
  for (const { actor, name, address } of events.slice(2))
    assert.deepEqual([actor, name, address], ["administrator", "berta", "192.0.2.7"]);
  assert.deepEqual(events[3]!.details, {
    old_name: "Shop",
    added: ["stocks:read"],
    removed: ["orders:write"],
  });
  assert.ok(!JSON.stringify(events).includes(secret));
});

test("what is done at the command line is noted as such", async () => {
  const start = await now();
  const { id } = await createCredential(service.owner, { name: "cli", read: ["tags"] });
  await rotateCredential(service.owner, id, 24);
  await deleteCredential(service.owner, id);
  await createAdministrator(service.owner, "carla", password);
  await resetPassword(service.owner, "CARLA", "another long password");
  await deactivateAdministrator(service.owner, "carla");
  const events = await eventsSince(start);
  assert.deepEqual(
    events.map(({ actor, address, action }) => [actor, address, action]),
    [
      "credential.created",
      "credential.rotated",
      "credential.deleted",
      "administrator.created",
      "administrator.password_reset",
      "administrator.deactivated",
    ].map((action) => ["command line", null, action]),
  );
});

test("failed log-ins are noted with the address, and with the name only if there is such an administrator", async () => {
  await createAdministrator(service.owner, "dora", password);
  const start = await now();
  const visitor = new HttpBrowser(service.url);
  visitor.headers = { "x-forwarded-for": "192.0.2.8" };
  await visitor.post("/admin/log-in", { name: "dora", password: "wrong" });
  await visitor.post("/admin/log-in", { name: "maybe-a-password", password: "wrong" });
  assert.deepEqual(
    (await eventsSince(start)).map(({ actor, address, action, subject }) => [
      actor,
      address,
      action,
      subject,
    ]),
    [
      ["nobody", "192.0.2.8", "session.refused", "dora"],
      ["nobody", "192.0.2.8", "session.refused", null],
    ],
  );
});

test("the page of the activity goes back, fifty at a time", async () => {
  const visitor = await loggedIn(service, "emma");
  await service.owner.query(
    "select auth.note_event('credential.created', 'token ' || n) from generate_series(1, 120) n",
  );
  const seen: string[] = [];
  let path: string | undefined = "/admin/activity";
  while (path) {
    const { html } = await visitor.get(path);
    const shown = [...html.matchAll(/<strong>(token \d+)</g)].map(([, name]) => name!);
    assert.ok(shown.length <= 50);
    seen.push(...shown);
    path = /href="(\/admin\/activity\?before=[^"]+)"/.exec(html)?.[1];
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 120 }, (_, index) => `token ${120 - index}`),
  );
  assert.equal((await visitor.get("/admin/activity?before=x")).status, 404);
});

test("events of other kinds are shown as they are", async () => {
  const visitor = await loggedIn(service, "frida");
  await service.owner.query("select auth.note_event('moon.landed', 'Tranquility', null, '{\"scopes\": 7}')");
  assert.match(textOf(await visitor.get("/admin/activity")), /moon\.landed Tranquility/);
});

test("nobody can change or delete an event, not even the owner", async () => {
  await service.owner.query("select auth.note_event('credential.created', 'kept')");
  for (const statement of [
    "update auth.audit_event set subject = 'x'",
    "delete from auth.audit_event",
    "truncate auth.audit_event",
  ])
    await assert.rejects(service.owner.query(statement), /never changed, and deleted only by age/, statement);
});
