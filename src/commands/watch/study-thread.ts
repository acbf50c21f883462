// A thread that finds out what a change of the database means for whom, so that requests needn't wait for that.
import "../../process/graphile-env.ts";
import { parentPort, workerData } from "node:worker_threads";
import type { ApiChange } from "../../check/api-changes.ts";
import { findApiChanges } from "../../check/api-changes.ts";
import { check } from "../../check/check.ts";
import type { Finding } from "../../check/finding.ts";
import { readCommittedState } from "../../check/rehearsal.ts";
import type { ApiState } from "../../check/state.ts";
import { readState } from "../../check/state.ts";
import { withClient } from "../../postgres/client.ts";
import { readCommittedKeys } from "../../migrations/templates.ts";
import { urlAsOwner } from "../../postgres/roles.ts";

/** The thread's initial data. */
export interface StudyData {
  /** The database, as a role that may become its owner. */
  adminUrl: string;
}

/** A request for the changes since the previous question. */
export interface Question {
  /** Whether it is the first question, which sets the state that later changes are compared with. */
  isFirst: boolean;
}

/** A question, or that the one under way need not be answered. */
export type ThreadMessage = Question | "stop";

export interface Answer {
  changes: ApiChange[];
  findings: Finding[];
  /** Messages about parts that could not be examined. */
  troubles: string[];
}

/** The reply to each question; it is lost with the connection, as when the database is recreated. */
export type Reply = Answer | "stopped" | "lost";

const { adminUrl } = workerData as StudyData;
const ownerUrl = urlAsOwner(adminUrl);
/** The API at the last answer, as SDL. */
let before: string | null = null;
/** The API of the committed migrations alone, with a key of these migrations. */
let baseline: { key: string; state: ApiState } | null = null;
let stopping = new AbortController();

parentPort!.on("message", (message: ThreadMessage) => {
  if (message === "stop") return stopping.abort();
  stopping = new AbortController();
  const { signal } = stopping;
  const reply = (text: Reply) => parentPort!.postMessage(text);
  void answer(message, signal).then(reply, () => reply(signal.aborted ? "stopped" : "lost"));
});

/** @throws when it is stopped, or the connection ends */
async function answer({ isFirst }: Question, signal: AbortSignal): Promise<Answer> {
  const troubles: string[] = [];
  const orTell = async <T>(what: string, work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (!signal.aborted) troubles.push(`${what}: ${(error as Error).message}`);
      return otherwise;
    } finally {
      signal.throwIfAborted();
    }
  };
  return withClient(ownerUrl, async (client) => {
    let isLost = false;
    client.once("end", () => (isLost = true));
    const state = await orTell(
      "The API could not be printed",
      // Of the database at hand: its shadow may lack what earlier saves have left
      () => readState(client, ownerUrl),
      null,
    );
    const committed = await orTell("There is nothing to compare the API with", readBaseline, null);
    // The first answer may have been given up
    const old = before ?? committed?.sdl;
    const changes =
      old && state && !isFirst
        ? await orTell("The API could not be compared", () => findApiChanges(old, state.sdl), [])
        : [];
    const findings = await orTell(
      "The check could not be run",
      () =>
        check(client, {
          signal,
          ...(state && committed ? { before: committed, after: () => Promise.resolve(state) } : {}),
        }),
      [],
    );
    if (isLost) throw new Error("The connection has ended.");
    before = state?.sdl ?? before;
    return { changes, findings, troubles };
  });
}

async function readBaseline(): Promise<ApiState> {
  const key = (await readCommittedKeys()).at(-1) ?? "";
  if (baseline?.key !== key) baseline = { key, state: await readCommittedState(adminUrl) };
  return baseline.state;
}
