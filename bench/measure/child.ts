import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { ProcessUsage } from "../child/serve.ts";

/** A measured process. */
export interface Child {
  url: string;
  /** An access token, if it doesn't accept the service's tokens. */
  token: string | undefined;
  pid: number;
  /** Milliseconds from the start of the process until it was ready. */
  startUp: number;
  usage(): Promise<ProcessUsage>;
  stop(): Promise<void>;
}

export interface ChildOptions {
  program: URL;
  environment: Record<string, string>;
  /** Options of Node, for example to write a profile. */
  execArgv?: string[];
}

const running = new Set<ChildProcess>();
// For any end of this process: if it is killed, the channel closes, on which they end too (child/serve.ts)
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Bytes of a process' output that are kept, for the message if it fails. */
const keptOutput = 4_000;

/**
 * Starts a process and waits until it is ready.
 *
 * @throws with its output, if it ends before that
 */
export async function startChild({ program, environment, execArgv = [] }: ChildOptions): Promise<Child> {
  const begin = performance.now();
  const child = fork(program, {
    env: { ...process.env, ...environment },
    execArgv,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  running.add(child);
  let output = "";
  const collect = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-keptOutput));
  child.stdout!.on("data", collect);
  child.stderr!.on("data", collect);
  const ended = once(child, "exit").then(() => {
    running.delete(child);
    throw new Error(`${program.pathname} has ended:\n${output}`);
  });
  ended.catch(() => {});
  const answer = async <T>() => (await Promise.race([once(child, "message"), ended]))[0] as T;
  const { url, token } = await answer<{ url: string; token?: string }>();
  return {
    url,
    token,
    pid: child.pid!,
    startUp: performance.now() - begin,
    usage() {
      const answered = answer<ProcessUsage>();
      child.send("usage");
      return answered;
    },
    async stop() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended.catch(() => {});
      clearTimeout(timer);
    },
  };
}
