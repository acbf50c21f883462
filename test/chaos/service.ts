import { writeFile } from "node:fs/promises";
import { freePort } from "../lib/free-port.ts";
import { allVersions, startCommand } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { servingProcesses } from "../lib/processes.ts";

/** A service that is killed and comes back on the same port. */
export class Service {
  readonly name: string;
  readonly workers: number;
  readonly #port: number;
  readonly #settings: Record<string, string>;
  #process: CommandProcess | null = null;
  #said = "";
  /** Whether it, or one of its processes, has been killed, and when that was. Requests may be cut then. */
  #isDown = true;
  #killedAtMs = -Infinity;
  #isEnding = false;
  onDeath: (text: string) => void = () => {};

  private constructor(name: string, port: number, workers: number, settings: Record<string, string>) {
    this.name = name;
    this.#port = port;
    this.workers = workers;
    this.#settings = settings;
  }

  /** @param workers its processes; 1 for one without others */
  static async open(name: string, workers: number, settings: Record<string, string>): Promise<Service> {
    return new Service(name, await freePort(), workers, settings);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** All that it has said. */
  get output(): string {
    return this.#said + (this.#process?.output() ?? "");
  }

  /** Whether a request that began at a time may have ended without an answer. */
  mayHaveCut(sinceMs: number): boolean {
    return this.#isDown || this.#killedAtMs >= sinceMs;
  }

  async start(): Promise<void> {
    this.#said = this.output;
    this.#isEnding = false;
    const workers = this.workers > 1 ? ["--workers", String(this.workers)] : [];
    this.#process = startCommand(["start", ...workers], {
      ...allVersions,
      ...{ PORT: String(this.#port), LOG_LEVEL: "warn", WEBHOOK_ALLOW: "127.0.0.1" },
      ...{ LIMIT_BUCKET: "1000000", LIMIT_REFILL: "1000000", LIMIT_COST: "100000" },
      ...this.#settings,
    });
    await this.#process.said(/The API is at/);
    this.#isDown = false;
    const started = this.#process;
    void started.ended.then((code) => {
      if (this.#process === started && !this.#isEnding) this.#died(code);
    });
  }

  /** It has ended by itself, which it never may. It is started again, as by a supervisor. */
  #died(code: number | null): void {
    this.#isDown = true;
    this.onDeath(`${this.name} has ended by itself, with ${code}: ${this.output.slice(-1_000)}`);
    this.start().catch((error: unknown) => this.onDeath(`${this.name} can't start again: ${error}`));
  }

  /** Ends it. @returns its exit code; null when the signal ended it */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const process = this.#process;
    if (process === null) return 0;
    this.#isEnding = this.#isDown = true;
    this.#killedAtMs = performance.now();
    process.kill(signal);
    const code = await process.ended;
    this.#killedAtMs = performance.now();
    return code;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  workerIds(): Promise<number[]> {
    return this.#process ? servingProcesses(this.#process.pid) : Promise.resolve([]);
  }

  async killWorker(which: number): Promise<void> {
    const ids = await this.workerIds();
    if (ids.length === 0) return;
    // Others may get requests for it until its death is noticed
    this.#isDown = true;
    process.kill(ids[which % ids.length]!, "SIGKILL");
  }

  /** All of its processes are there again. */
  noteWorkersBack(): void {
    this.#isDown = false;
    this.#killedAtMs = performance.now();
  }

  async writeOutput(path: string): Promise<void> {
    await writeFile(path, this.output);
  }
}
