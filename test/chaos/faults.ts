import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../lib/until.ts";
import type { Random } from "../lib/random.ts";
import type { Mood, Receiver } from "./receiver.ts";
import type { Service } from "./service.ts";
import type { World } from "./world.ts";

/** Something that goes wrong, and how it is mended. */
export interface Fault {
  name: string;
  /** What it concerns. Two faults of the same part don't happen at the same time. */
  part: "service 1" | "service 2" | "primary" | "replica" | "receiver" | "all";
  begin(random: Random): Promise<unknown>;
  mend(): Promise<unknown>;
}

/** Tells what is wrong, and must not be. */
type Complain = (text: string) => void;

const nothing = async () => {};
/** Milliseconds that a standby is made to lag behind. */
const delay = "2s";
/** Milliseconds in which a service stops: its own delay of one second, and ten. */
const stopMs = 15_000;

/** Milliseconds in which all processes are replaced, one after the other, on a machine that has much else to do. */
const replacedMs = 180_000;

/** All that can go wrong. */
export function faultsOf(world: World, receiver: Receiver, complain: Complain): Fault[] {
  return [
    ...world.services.flatMap((service) => serviceFaults(service, complain)),
    workerDies(world.services[0]),
    replacement(world.services[0]),
    ...primaryFaults(world),
    ...networkFaults(world),
    ...replicaFaults(world),
    ...receiverFaults(world, receiver),
    ...(world.bouncer ? [bouncerDies(world)] : []),
    synchronousReplicaAway(world),
    failOver(world),
  ];
}

function serviceFaults(service: Service, complain: Complain): Fault[] {
  const part = service.name as Fault["part"];
  return [
    {
      ...{ name: `${service.name} is killed`, part },
      begin: () => service.end("SIGKILL"),
      mend: () => service.start(),
    },
    {
      ...{ name: `${service.name} is stopped`, part },
      async begin() {
        const begun = performance.now();
        const code = await service.end("SIGTERM");
        const ms = performance.now() - begun;
        if (code !== 0 || ms > stopMs)
          complain(`${service.name} stopped with ${code} after ${Math.round(ms)} ms`);
      },
      mend: () => service.start(),
    },
  ];
}

const workerDies = (service: Service): Fault => ({
  ...{ name: "a process of service 1 is killed", part: "service 1" },
  begin: (random) => service.killWorker(random.below(service.workers)),
  async mend() {
    await until(async () => (await service.workerIds()).length === service.workers);
    // It is there before it serves
    await until(() => isReady(service));
    service.noteWorkersBack();
  },
});

const replacement = (service: Service): Fault => ({
  ...{ name: "all processes of service 1 are replaced (SIGHUP)", part: "service 1" },
  async begin() {
    const before = await service.workerIds();
    service.signal("SIGHUP");
    const areNew = (ids: number[]) =>
      ids.length === service.workers && ids.every((id) => !before.includes(id));
    await until(async () => areNew(await service.workerIds()), replacedMs);
  },
  mend: nothing,
});

export const isReady = async ({ url }: Service): Promise<boolean> =>
  (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;

function primaryFaults(world: World): Fault[] {
  const part = "primary";
  const others = "pid <> pg_backend_pid() and datname = current_database()";
  const ended = (signal: NodeJS.Signals, how: string): Fault => ({
    ...{ name: `Postgres is ${how}, and started again`, part },
    begin: () => world.primary.end(signal),
    mend: () => world.primary.start(),
  });
  return [
    ended("SIGKILL", "killed"),
    ended("SIGQUIT", "stopped at once"),
    ended("SIGINT", "stopped in order"),
    {
      ...{ name: "all connections to Postgres are ended", part },
      begin: () =>
        world.primary.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`),
      mend: nothing,
    },
    {
      ...{ name: "connections to Postgres are ended one after the other", part },
      async begin(random) {
        for (let n = 0; n < 30; n++) {
          await world.primary.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where ${others}
             order by state = 'active' desc, random() limit 1`,
          );
          // At moments that nobody chooses
          await sleep(random.between(20, 150));
        }
      },
      mend: nothing,
    },
    {
      ...{ name: "a process of Postgres is killed, so that all of it starts again", part },
      async begin() {
        const [one] = await world.primary.query(`select pid from pg_stat_activity where ${others} limit 1`);
        if (one) process.kill(one.pid as number, "SIGKILL");
      },
      // A promoted one may give up: docs/guides/replicas.md#failover
      mend: () => world.primary.comeBack(),
    },
  ];
}

function networkFaults({ network }: World): Fault[] {
  const part = (which: number) => `service ${which + 1}` as Fault["part"];
  return [
    ...network.toPrimary.flatMap((proxy, which): Fault[] => [
      {
        ...{ name: `service ${which + 1} is cut off from Postgres`, part: part(which) },
        begin: async () => proxy.cut(),
        mend: async () => proxy.restore(),
      },
      {
        ...{ name: `nothing gets through between service ${which + 1} and Postgres`, part: part(which) },
        begin: async () => proxy.freeze(),
        mend: async () => proxy.restore(),
      },
    ]),
    {
      ...{ name: "the replica is cut off from the services", part: "replica" },
      begin: async () => network.toReplica.cut(),
      mend: async () => network.toReplica.restore(),
    },
    {
      ...{ name: "nothing gets through between the services and the replica", part: "replica" },
      begin: async () => network.toReplica.freeze(),
      mend: async () => network.toReplica.restore(),
    },
    {
      ...{ name: "nothing gets through from the primary to the replica", part: "replica" },
      begin: async () => network.replication.freeze(),
      mend: async () => network.replication.restore(),
    },
  ];
}

function replicaFaults(world: World): Fault[] {
  const part = "replica";
  const setDelay = async (value: string) => {
    await world.replica.query(`alter system set recovery_min_apply_delay = '${value}'`);
    await world.replica.query("select pg_reload_conf()");
  };
  return [
    {
      ...{ name: "the replica is killed", part },
      begin: () => world.replica.end("SIGKILL"),
      mend: () => world.replica.start(),
    },
    {
      ...{ name: "the replica is stopped in order", part },
      begin: () => world.replica.end("SIGINT"),
      mend: () => world.replica.start(),
    },
    {
      ...{ name: "the replica stands still (SIGSTOP)", part },
      begin: () => world.replica.signalAll("SIGSTOP"),
      mend: () => world.replica.signalAll("SIGCONT"),
    },
    {
      ...{ name: `the replica is ${delay} behind`, part },
      begin: () => setDelay(delay),
      mend: () => setDelay("0"),
    },
    {
      ...{ name: "the replica replays nothing", part },
      begin: () => world.replica.query("select pg_wal_replay_pause()"),
      mend: () => world.replica.query("select pg_wal_replay_resume()"),
    },
  ];
}

function receiverFaults(world: World, receiver: Receiver): Fault[] {
  const part = "receiver";
  const inMood = (mood: Mood): Fault => ({
    ...{ name: `the receiver is ${mood}`, part },
    begin: async () => void (receiver.mood = mood),
    async mend() {
      receiver.mood = "well";
      await sendWaiting(world);
    },
  });
  return [
    {
      ...{ name: "the receiver is away", part },
      begin: () => receiver.stop(),
      async mend() {
        await receiver.start();
        await sendWaiting(world);
      },
    },
    inMood("failing"),
    inMood("slow"),
    inMood("silent"),
  ];
}

/** Sends what waits for its next attempt, as an operator may do: otherwise it would wait for minutes, or hours. */
export async function sendWaiting({ primary }: World): Promise<void> {
  const work = async () => {
    await primary.query(`update events.webhook_subscription
      set next_probe_at = null, health = 'HEALTHY', consecutive_failures = 0 where health <> 'HEALTHY'`);
    await primary.query(`update events.delivery_queue set next_attempt_at = clock_timestamp(), attempts = 0
      where claimed_until is null and next_attempt_at > clock_timestamp()`);
  };
  // Postgres may be away for another reason
  await until(() =>
    work().then(
      () => true,
      () => false,
    ),
  );
}

const bouncerDies = (world: World): Fault => ({
  ...{ name: "PgBouncer is killed", part: "service 2" },
  begin: () => world.bouncer!.stop("SIGKILL"),
  mend: () => world.bouncer!.start(),
});

/** From now on a commit waits until the replica has it. Returns when that is so. */
async function waitForReplica({ primary }: World): Promise<void> {
  await primary.query("alter system set synchronous_standby_names = '*'");
  await primary.query("select pg_reload_conf()");
  const isSynchronous = async () =>
    (await primary.query("select from pg_stat_replication where sync_state = 'sync'")).length > 0;
  await until(isSynchronous);
  // Commits that had begun to be answered without it
  await sleep(500);
  const [{ position }] = (await primary.query("select pg_current_wal_flush_lsn()::text as position")) as [
    { position: string },
  ];
  const hasAll = `select from pg_stat_replication where flush_lsn >= '${position}'`;
  await until(async () => (await primary.query(hasAll)).length > 0);
}

async function waitForNobody({ primary }: World): Promise<void> {
  await primary.query("alter system reset synchronous_standby_names");
  await primary.query("select pg_reload_conf()");
}

const synchronousReplicaAway = (world: World): Fault => ({
  ...{ name: "the synchronous replica stands still, so that commits wait", part: "all" },
  async begin() {
    await waitForReplica(world);
    await world.replica.signalAll("SIGSTOP");
  },
  async mend() {
    await world.replica.signalAll("SIGCONT");
    await waitForNobody(world);
  },
});

const failOver = (world: World): Fault => ({
  ...{ name: "the primary is lost, and the synchronous replica promoted", part: "all" },
  async begin() {
    await waitForReplica(world);
    await world.primary.end("SIGKILL");
  },
  mend: () => world.failOver(),
});
