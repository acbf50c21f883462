import { Worker } from "node:worker_threads";
import { say } from "../terminal.ts";
import { printAnswer } from "./screen.ts";
import type { ThreadMessage, Question, Reply, StudyData } from "./study-thread.ts";

/** Finds out what a change means, in a thread. */
export class Study {
  readonly #worker: Worker;
  #isBusy = false;
  /** The last question, until it is answered. */
  #open: Question | null = null;
  #isPaused = false;

  /** @param adminUrl the database, as a role that may become its owner */
  constructor(adminUrl: string) {
    const workerData: StudyData = { adminUrl };
    this.#worker = new Worker(new URL("study-thread.ts", import.meta.url), { workerData });
    this.#worker.on("message", (reply: Reply) => this.#tell(reply));
    this.#worker.on("error", (error) => say(`What changes mean can't be told any more: ${String(error)}`));
  }

  /** Questions of what is under way are given up for a newer one. */
  ask(question: Question): void {
    this.#open = question;
    this.resume();
  }

  /** Leaves processors and locks to others, until the next question. */
  pause(): void {
    this.#isPaused = true;
    if (this.#isBusy) this.#send("stop");
  }

  /** Goes on with what has no answer yet. */
  resume(): void {
    this.#isPaused = false;
    if (this.#open === null) return;
    if (this.#isBusy) return this.#send("stop");
    this.#isBusy = true;
    this.#send(this.#open);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #send(message: ThreadMessage): void {
    this.#worker.postMessage(message);
  }

  #tell(reply: Reply): void {
    this.#isBusy = false;
    if (reply === "stopped") {
      if (!this.#isPaused) this.resume();
      return;
    }
    // It is asked again when the database is back
    if (reply === "lost") return;
    this.#open = null;
    const text = printAnswer(reply);
    if (text !== "") say(`\n${text}`);
  }
}
