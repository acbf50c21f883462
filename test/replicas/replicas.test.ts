import assert from "node:assert/strict";
import { closeSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import { asRole, readAs } from "../../src/postgres/as-role.ts";
import { withClient } from "../../src/postgres/client.ts";
import { startCluster } from "../../src/cluster/cluster.ts";
import type { Cluster } from "../../src/cluster/cluster.ts";
import { unknownPosition } from "../../src/postgres/wal-position.ts";
import { makePositionsFile, Positions } from "../../src/replicas/positions.ts";
import type { PositionsFile } from "../../src/replicas/positions.ts";
import type { ReplicasOptions } from "../../src/replicas/replicas.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { toApiLoginUrl, urlAsOwner } from "../../src/postgres/roles.ts";
import { temporaryFolder } from "../commands/process.ts";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { startOwnPostgres, unsafe } from "../lib/prepared.ts";
import type { OwnPostgres } from "../lib/prepared.ts";
import { processesIn } from "../lib/processes.ts";
import { startProcess } from "../lib/service.ts";
import type { AskOptions, TestProcess } from "../lib/service.ts";
import { startStandby } from "../lib/standby.ts";
import { until } from "../lib/until.ts";

// A primary with two standbys, which are held back, taken away and promoted, one test after the other
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let primary: OwnPostgres;
const standbys: Cluster[] = [];
let owner: pg.Pool;
const services: TestProcess[] = [];
let shared: number;
let token: string;
let id: string;

before(async () => {
  folder = await temporaryFolder();
  const directory = join(folder.path, "primary");
  primary = await startOwnPostgres({ directory, flags: { ...unsafe, synchronous_commit: "on" } });
  for (const name of ["one", "two"])
    standbys.push(await startStandby(primary.cluster, directory, join(folder.path, name)));
  owner = createPool(urlAsOwner(primary.adminUrl), { max: 2 });
  const descriptor = (shared = makePositionsFile(2));
  for (const column of [0, 1]) services.push(await serviceWith({ descriptor, column, columns: 2 }));
  token = await newToken();
  await allInUse();
  id = await write("first");
});
after(async () => {
  for (const service of services) await service.close();
  await owner?.end();
  for (const standby of standbys) await standby.stop();
  await primary?.cluster.stop();
  await folder.remove();
  closeSync(shared);
});

test("a process that begins in the place of one that was killed finds out what that one didn't know", async () => {
  const descriptor = makePositionsFile(2);
  const [killed, other] = [0, 1].map((column) => new Positions({ descriptor, column, columns: 2 })) as [
    Positions,
    Positions,
  ];
  killed.note("knows", 7n);
  killed.noteUnknown("asks");
  const successor = new Positions({ descriptor, column: 0, columns: 2 });
  const of = () => [other, successor].map((each) => [each.get("knows"), each.get("asks"), each.get("new")]);
  assert.deepEqual(of(), [
    [7n, unknownPosition, 0n],
    [7n, unknownPosition, 0n],
  ]);
  successor.note("knows", 5n);
  successor.beginSettling()(9n);
  assert.deepEqual(of(), [
    [7n, 9n, 0n],
    [7n, 9n, 0n],
  ]);
  closeSync(descriptor);
});

test("a process that has replaced another finds out what that one didn't know, in its own column", async () => {
  const descriptor = makePositionsFile(3);
  const [replaced, heir, other] = [0, 1, 2].map(
    (column) => new Positions({ descriptor, column, columns: 3 }),
  ) as [Positions, Positions, Positions];
  replaced.note("knows", 7n);
  heir.note("knows", 5n);
  heir.note("settled", 8n);
  replaced.noteUnknownToAll();
  const of = () => [other, heir].map((each) => ["knows", "settled", "new"].map((client) => each.get(client)));
  const unknown = [unknownPosition, unknownPosition, unknownPosition];
  assert.deepEqual(of(), [unknown, unknown]);
  heir.beginSettling()(9n);
  assert.deepEqual(of(), [unknown, unknown]);
  const early = heir.beginSettling();
  heir.takeOver(0);
  early(10n);
  assert.deepEqual(of(), [unknown, unknown]);
  heir.beginSettling()(11n);
  assert.deepEqual(of(), [
    [11n, 11n, 11n],
    [11n, 11n, 11n],
  ]);
  closeSync(descriptor);
});

/** The database of a standby as the service logs in there. */
const at = (standby: Cluster, url: string): string =>
  Object.assign(new URL(url), { host: new URL(standby.adminUrl("empty")).host }).href;

/** A process that reads from the standbys. */
async function serviceWith(
  positions: PositionsFile | null,
  loginUrl = primary.loginUrl,
): Promise<TestProcess> {
  const urls = standbys.map((standby) => at(standby, toApiLoginUrl(loginUrl)!));
  const replicas: ReplicasOptions = {
    ...{ urls, pool: { max: 5 }, maxLagMs: 1_500 },
    positions: new Positions(positions),
  };
  return startProcess({ loginUrl, replicas });
}

const newToken = async () =>
  services[0]!.tokenFor(await createCredential(owner, { name: "test", read: "all", write: "all" }));

/** Values of a metric, by their label. */
async function figures(name: string, service = services[0]!): Promise<Record<string, number>> {
  const { values } = await service.app.metrics.registry.getSingleMetric(name)!.get();
  return Object.fromEntries(values.map(({ labels, value }) => [Object.values(labels)[0], value]));
}
const answeredBy = (service?: TestProcess) => figures("service_replica_reads_total", service);
const inUse = async (service?: TestProcess) =>
  Object.values(await figures("service_replica_lag_seconds", service)).filter((lag) => lag >= 0).length;
const allInUse = () =>
  until(async () => (await Promise.all(services.map(inUse))).every((count) => count === 2));

const upsert = `mutation ($name: String!) {
  suppliersUpsert(input: { suppliers: [{ number: "S-1", name: $name }] }) { suppliers { id name } userErrors { code } } }`;

/** Renames the supplier. Returns its id. */
async function write(name: string, by = services[0]!): Promise<string> {
  const { body, headers } = await by.ask(token, { query: upsert, variables: { name } });
  assert.equal(body.data?.suppliersUpsert.suppliers[0].name, name, JSON.stringify(body));
  assert.match(body.extensions.consistentWith, /^[0-9A-F]+\/[0-9A-F]+$/);
  assert.equal(headers.get("x-consistent-with"), body.extensions.consistentWith);
  return body.data.suppliersUpsert.suppliers[0].id;
}

/** The supplier's name, as a client sees it. */
async function read({
  as = token,
  from = services[0]!,
  ...init
}: { as?: string; from?: TestProcess } & AskOptions = {}) {
  const { body } = await from.ask(as, { query: `{ supplier(id: "${id}") { name } }` }, init);
  assert.deepEqual(body.errors, undefined, JSON.stringify(body));
  return body.data.supplier.name as string;
}

/** Runs a statement on each standby. */
const onStandbys = (text: string) =>
  Promise.all(
    standbys.map((standby) => withClient(standby.adminUrl("empty"), (client) => client.query(text))),
  );
const hold = () => onStandbys("select pg_wal_replay_pause()");
const goOn = () => onStandbys("select pg_wal_replay_resume()");

test("a client reads what it has just written, and soon from a replica", async () => {
  for (let round = 0; round < 30; round++) {
    await write(`round ${round}`);
    assert.equal(await read(), `round ${round}`);
    assert.equal(await read({ from: services[1]! }), `round ${round}`);
  }
  const { replica: before } = await answeredBy();
  await until(async () => {
    assert.equal(await read(), "round 29");
    return (await answeredBy()).replica! > before!;
  });
});

test("so it does when replicas are held back, in other processes too; others see it by the position", async (t) => {
  const other = await newToken();
  await until(async () => (await read({ as: other })) === "round 29");
  t.after(goOn);
  await hold();
  await write("held back");
  const { body } = await services[0]!.ask(token, { query: upsert, variables: { name: "held back" } });
  for (const from of services) assert.equal(await read({ from }), "held back");
  const { replica: before } = await answeredBy();
  const seen = await read({ as: other });
  // On a busy machine they may count as lagging already
  if ((await answeredBy()).replica! > before!) assert.equal(seen, "round 29");
  assert.equal(
    await read({ as: other, headers: { "x-consistent-with": body.extensions.consistentWith } }),
    "held back",
  );
  assert.ok((await answeredBy())["primary: behind"]! > 0);
  // Nobody reads what is older than the limit
  await until(async () => (await inUse()) === 0);
  assert.equal(await read({ as: other }), "held back");
  await goOn();
  await allInUse();
});

test("a process that begins shows what was written before, though replicas don't have it yet", async (t) => {
  t.after(goOn);
  await hold();
  await write("before the start");
  const later = await serviceWith(null);
  t.after(() => later.close());
  for (let n = 0; n < 20; n++) assert.equal(await read({ from: later }), "before the start");
  await goOn();
  await until(async () => (await inUse(later)) === 2);
  await until(async () => {
    assert.equal(await read({ from: later }), "before the start");
    return (await answeredBy(later)).replica! > 0;
  });
  await allInUse();
});

test("a write whose position can't be found out is read on the primary, in all processes, until it can", async (t) => {
  const position = "on function pg_current_wal_flush_lsn()";
  t.after(() =>
    Promise.all([
      goOn(),
      withClient(primary.adminUrl, (admin) => admin.query(`grant execute ${position} to public`)),
    ]),
  );
  await withClient(primary.adminUrl, (admin) => admin.query(`revoke execute ${position} from public`));
  await hold();
  const { body } = await services[0]!.ask(token, {
    query: upsert,
    variables: { name: "nobody knows where" },
  });
  assert.equal(body.extensions.consistentWith, "FFFFFFFF/FFFFFFFF");
  for (const from of services) assert.equal(await read({ from }), "nobody knows where");
  const headers = { "x-consistent-with": body.extensions.consistentWith };
  assert.equal(await read({ as: await newToken(), headers }), "nobody knows where");
  await withClient(primary.adminUrl, (admin) => admin.query(`grant execute ${position} to public`));
  await goOn();
  await allInUse();
  for (const from of services) {
    const { replica: before } = await answeredBy(from);
    await until(async () => {
      assert.equal(await read({ from }), "nobody knows where");
      return (await answeredBy(from)).replica! > before!;
    });
  }
});

test("operations with several mutations count as well", async (t) => {
  t.after(goOn);
  await hold();
  const query = upsert
    .replace("suppliersUpsert(", "one: suppliersUpsert(")
    .replace(
      /}$/,
      'two: suppliersUpsert(input: { suppliers: [{ number: "S-1", name: "twice" }] }) { userErrors { code } } }',
    );
  const { body, headers } = await services[0]!.ask(token, { query, variables: { name: "once" } });
  assert.deepEqual(body.errors, undefined, JSON.stringify(body));
  assert.equal(headers.get("x-consistent-with"), body.extensions.consistentWith);
  for (const from of services) assert.equal(await read({ from }), "twice");
  await goOn();
  await allInUse();
});

test("a position that is none is refused; one of the future is read on the primary", async () => {
  const ask = (position: string) =>
    services[0]!.ask(
      token,
      { query: "{ version { name } }" },
      { headers: { "x-consistent-with": position } },
    );
  for (const wrong of ["", "latest", "0/", "0/123456789", "0/1,0/2"]) {
    const { codes, status } = await ask(wrong);
    assert.deepEqual([codes, status], [["BAD_USER_INPUT"], 400], wrong);
  }
  assert.equal(await read({ headers: { "x-consistent-with": "FFFFFFFF/FFFFFFFF" } }), "twice");
});

test("followed lists come from the primary, which knows the open transactions", async () => {
  const before = (await answeredBy())["primary: fresh"]!;
  const { body } = await services[0]!.ask(token, {
    query: "{ stockMovements(first: 1) { pageInfo { endCursor } } }",
  });
  assert.deepEqual(body.errors, undefined, JSON.stringify(body));
  assert.equal((await answeredBy())["primary: fresh"], before + 1);
});

/** Gives the supplier of a client a number as its name. */
const rename = (as: string, client: number, n: number) =>
  services[client % 2]!.ask(as, {
    query: `mutation ($number: String!, $name: String!) {
      suppliersUpsert(input: { suppliers: [{ number: $number, name: $name }] }) { suppliers { id } } }`,
    variables: { number: `C-${client}`, name: `${n}` },
  });

/** Reads and writes until something is so. None may fail, or show what is old. */
async function meanwhile(condition: () => Promise<boolean>): Promise<void> {
  let isOver = false;
  const clients = Array.from({ length: 4 }, async (_, client) => {
    const own = await newToken();
    for (let n = 0; !isOver; n++) {
      const { body } = await rename(own, client, n);
      const supplier = body.data.suppliersUpsert.suppliers[0].id;
      for (const service of services) {
        const answer = await service.ask(own, { query: `{ supplier(id: "${supplier}") { name } }` });
        assert.deepEqual(answer.body.data?.supplier, { name: `${n}` }, answer.text);
      }
    }
  });
  await Promise.race([until(condition).finally(() => (isOver = true)), ...clients]);
  await Promise.all(clients);
}

const areInUse = (wanted: number) => async () =>
  (await Promise.all(services.map(inUse))).every((count) => count === wanted);

test("a killed replica is left, and used again when it is back", async () => {
  process.kill(await postmasterOf("one"), "SIGKILL");
  await meanwhile(areInUse(1));
  await meanwhile(async () => {
    standbys[0] = await startCluster({ directory: join(folder.path, "one"), flags: unsafe });
    await until(areInUse(2));
    return true;
  });
});

async function postmasterOf(name: string): Promise<number> {
  const data = await realpath(join(folder.path, name, "postgres"));
  return Number.parseInt(await readFile(join(data, "postmaster.pid"), "utf8"));
}

/** Stops all processes of a standby, as if it stood still. Returns what lets them go on. */
async function freeze(name: string): Promise<() => void> {
  const ids = await processesIn(join(folder.path, name, "postgres"));
  const send = (signal: NodeJS.Signals) => {
    for (const id of ids)
      // Some end by themselves
      try {
        process.kill(id, signal);
      } catch {}
  };
  send("SIGSTOP");
  return () => send("SIGCONT");
}

test("a replica that doesn't answer any more is left", async (t) => {
  const resume = await freeze("two");
  t.after(resume);
  await meanwhile(areInUse(1));
  resume();
  await until(areInUse(2));
});

test("a promoted replica is left", async () => {
  await withClient(standbys[0]!.adminUrl("empty"), (client) => client.query("select pg_promote()"));
  await meanwhile(areInUse(1));
});

test("where that is the primary, the other standby isn't used: it has what the primary never had", async (t) => {
  const proxy = await openCuttableProxy(primary.loginUrl);
  t.after(() => proxy.close());
  const descriptor = makePositionsFile(2);
  const [later, beside] = (await Promise.all(
    [0, 1].map((column) => serviceWith({ descriptor, column, columns: 2 }, proxy.url)),
  )) as [TestProcess, TestProcess];
  t.after(async () => {
    await Promise.all([later.close(), beside.close()]);
    closeSync(descriptor);
  });
  await write("on the old primary");
  await owner.query("select pg_logical_emit_message(false, 'test', repeat('long', 1000000))");
  await until(async () => {
    const text = "select from erp.supplier where name = 'on the old primary'";
    return withClient(standbys[1]!.adminUrl("empty"), async (two) => (await two.query(text)).rowCount === 1);
  });
  await until(async () => (await inUse(later)) === 1 && (await inUse(beside)) === 1);
  proxy.redirectTo(at(standbys[0]!, primary.loginUrl));
  // It sees what it writes there, at once, in other processes too
  await until(() => write("on the new primary", later).then(Boolean, () => false));
  await until(async () => {
    const name = await read({ from: beside }).catch(() => null);
    assert.notEqual(name, "on the old primary");
    return name !== null;
  });
  await until(async () => {
    assert.notEqual(await read({ from: later }), "on the old primary");
    return later.log.some(({ obstacle }) => obstacle === "another timeline");
  });
  for (let n = 0; n < 5; n++) assert.notEqual(await read({ from: later }), "on the old primary");
});

test("a write that wasn't waited for isn't confirmed, and repeated only when a synchronous standby has it", async (t) => {
  const own = await newToken();
  const rename = (name: string, key: string | null) => {
    const input = { suppliers: [{ number: "S-2", name }], idempotencyKey: key };
    const query = `mutation ($input: SuppliersUpsertInput!) { suppliersUpsert(input: $input) { suppliers { name } } }`;
    return services[0]!.ask(own, { query, variables: { input } });
  };
  assert.deepEqual((await rename("first", null)).codes, []);
  await withClient(primary.adminUrl, async (admin) => {
    await admin.query("alter system set synchronous_standby_names = '*'");
    await admin.query("select pg_reload_conf()");
    await until(
      async () =>
        (await admin.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount === 1,
    );
    // By which connection it is: the services also write how much they are used, and wait too
    const waiting = (whose: string) =>
      `select pid from pg_stat_activity where wait_event = 'SyncRep' and ${whose}`;
    const untilWaiting = (whose: string) =>
      until(async () => (await admin.query(waiting(whose))).rowCount === 1);
    const stopWaiting = async (whose: string) => {
      await untilWaiting(whose);
      await admin.query(`select pg_cancel_backend(pid) from (${waiting(whose)}) w`);
    };
    const ofMutation = "query ~ 'mutation.run'";
    // One of them is promoted, unless this test runs alone
    const resumes = await Promise.all(["one", "two"].map(freeze));
    const resume = () => resumes.forEach((each) => each());
    t.after(resume);
    const pool = createPool(primary.loginUrl, { max: 1, name: "writer" });
    t.after(() => pool.end());
    // A failover may lose it. Asked for at once: a refusal that nobody awaits yet ends the process
    const refused = assert.rejects(
      asRole(pool, "service_auth", (client) =>
        client.query("select pg_logical_emit_message(true, 'test', '')"),
      ),
      { code: "UNREPLICATED" },
    );
    await stopWaiting("application_name = 'writer'");
    await refused;
    // This has only the connection in common with it
    assert.deepEqual(await readAs(pool, "service_auth", "select 1 as one"), [{ one: 1 }]);
    for (const key of [null, "a key"]) {
      const answer = rename(`with ${key}`, key);
      await stopWaiting(ofMutation);
      const { codes, body } = await answer;
      assert.deepEqual([codes, body.errors[0].extensions.retryable], [["SERVICE_UNAVAILABLE"], key !== null]);
    }
    const again = rename("with a key", "a key");
    await untilWaiting(ofMutation);
    resume();
    assert.equal((await again).body.data?.suppliersUpsert.suppliers[0].name, "with a key");
  });
});

test("with a synchronous standby, nothing that was answered is lost by a failover to it", async () => {
  await withClient(primary.adminUrl, async (admin) => {
    await admin.query("alter system set synchronous_standby_names = '*'");
    await admin.query("select pg_reload_conf()");
    const { rows } = await admin.query<{ sync_state: string }>("select sync_state from pg_stat_replication");
    assert.equal(rows.length, 1);
    const isSync = "select from pg_stat_replication where sync_state = 'sync'";
    await until(async () => (await admin.query(isSync)).rowCount === 1);
  });
  const answered = [-1, -1, -1, -1];
  const clients = answered.map(async (_, client) => {
    const own = await newToken();
    for (let n = 1_000_000; ; n++) {
      const { codes } = await rename(own, client, n);
      if (codes.length > 0) return codes;
      answered[client] = n;
    }
  });
  await until(() => answered.every((n) => n > 1_000_010));
  process.kill(await postmasterOf("primary"), "SIGKILL");
  for (const codes of await Promise.all(clients))
    assert.match(String(codes), /^(SERVICE|PAYLOAD)_UNAVAILABLE$/);
  await withClient(standbys[1]!.adminUrl("empty"), async (promoted) => {
    await promoted.query("select pg_promote()");
    const { rows } = await promoted.query<{ name: string }>(
      "select name from erp.supplier where number like 'C-%' order by number",
    );
    rows.forEach(({ name }, client) =>
      assert.ok(Number(name) >= answered[client]!, `${name} ${answered[client]}`),
    );
    assert.deepEqual((await promoted.query("select * from ledger.proof limit 5")).rows, []);
  });
});
