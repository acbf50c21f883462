import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { until } from "./until.ts";

const program = ["pgbouncer", "/usr/sbin/pgbouncer"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);

/** Whether PgBouncer is installed. */
export const hasBouncer = program !== undefined;

/** Returns the setting by which PgBouncer doesn't track prepared statements. Versions before 1.21 never do, and lack it. */
export function withoutTracking(): string {
  const [, minor] = /^PgBouncer 1\.(\d+)/m.exec(String(spawnSync(program!, ["--version"]).stdout)) ?? [];
  return Number(minor ?? 21) < 21 ? "" : "max_prepared_statements = 0";
}

/** A PgBouncer in transaction mode in front of a service's database. */
export interface Bouncer {
  /** URL of the database through PgBouncer, with the service's login role. */
  url: string;
  signal(signal: NodeJS.Signals): void;
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface BouncerOptions {
  /** An existing folder for its files, which every user may access. */
  folder: string;
  /** Settings, one per line. */
  settings: string;
}

/**
 * Starts a PgBouncer.
 *
 * @param loginUrl the database behind it, with the login and password of the service
 */
export async function startBouncer(loginUrl: string, { folder, settings }: BouncerOptions): Promise<Bouncer> {
  const behind = new URL(loginUrl);
  const port = await freePort();
  const users = join(folder, `users-${port}.txt`);
  const file = join(folder, `pgbouncer-${port}.ini`);
  const password = decodeURIComponent(behind.password);
  const logins = ["service_login", "service_api_login"];
  await writeFile(users, logins.map((name) => `"${name}" "${password}"\n`).join(""));
  await writeFile(
    file,
    `[databases]
* = host=${behind.hostname} port=${behind.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
${settings}
${process.getuid?.() === 0 ? "user = nobody" : ""}
`,
  );
  for (const each of [users, file]) await chmod(each, 0o644);
  let running: ChildProcess | undefined;
  const bouncer: Bouncer = {
    url: Object.assign(new URL(loginUrl), { port: String(port) }).href,
    signal: (signal) => void running?.kill(signal),
    async start() {
      running = spawn(program!, ["--quiet", file], { stdio: "ignore" });
      await until(() => answers(port));
    },
    async stop(signal = "SIGINT") {
      const child = running;
      running = undefined;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await once(child, "exit");
    },
  };
  await bouncer.start();
  return bouncer;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}
