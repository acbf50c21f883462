import { setTimeout as sleep } from "node:timers/promises";

/** Where an attack goes, and whose name it uses. */
export interface Target {
  url: string;
  /** Of a credential that may read and write everything. */
  token: string;
  /** Of one without a single scope that the attacked resources need. */
  poor: string;
}

/** What an attacker was answered, and how often: statuses, or words for what had none. */
export class Tally {
  readonly counts: Record<string, number> = {};

  note(outcome: string | number): void {
    this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
  }
}

/** An attack while it is played. */
export interface Play extends Target {
  tally: Tally;
  isOver(): boolean;
}

/** Something that one client does to have more than its part. It ends when it is told to. */
export interface Attack {
  name: string;
  /** What the client does, to follow “doesn't notice”. */
  what: string;
  /** What the client makes ready before it begins, without which nothing would be attacked. */
  prepare?(play: Play): Promise<void>;
  run(play: Play): Promise<void>;
}

/** How to ask. */
export interface Sent {
  token: string | null;
  body: string | ReadableStream;
  path?: string;
  headers?: Record<string, string>;
}

/** Sends a request, reads the answer, and notes its status. */
export async function send(
  { url, tally }: Play,
  { token, body, path = "/api/graphql/unstable", headers = {} }: Sent,
): Promise<string> {
  try {
    const response = await fetch(url + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body,
      ...(typeof body !== "string" && { duplex: "half" }),
    });
    const text = await response.text();
    tally.note(response.status);
    return text;
  } catch {
    tally.note("no answer");
    await sleep(5);
    return "";
  }
}

/** Sends requests one after the other, on so many connections at the same time. Told to come later, it doesn't wait. */
export function sending(connections: number, make: (play: Play, n: number) => Sent): Attack["run"] {
  return async (play) => {
    let count = 0;
    const one = async () => {
      while (!play.isOver()) await send(play, make(play, count++));
    };
    await Promise.all(Array.from({ length: connections }, one));
  };
}

export const repeat = (count: number, make: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => make(n)).join(" ");

export const bodyOf = (query: string, variables?: object): string => JSON.stringify({ query, variables });
