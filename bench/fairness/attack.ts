import { setTimeout as sleep } from "node:timers/promises";

/** The target of an attack, and its credentials. */
export interface Target {
  url: string;
  /** Access token of an API credential with all scopes. */
  token: string;
  /** Access token without the scopes that the attack would need. */
  poor: string;
  /** Access tokens of further attackers with all scopes, if many attack together. */
  others?: readonly string[];
}

/** Counts responses to the attacker by status, or by a description of the failure. */
export class Tally {
  readonly counts: Record<string, number> = {};

  note(outcome: string | number): void {
    this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
  }
}

/** A running attack. */
export interface Play extends Target {
  tally: Tally;
  isOver(): boolean;
}

/** A way in which one client tries to take more than its share. It ends on request. */
export interface Attack {
  name: string;
  /** The client's action, as a clause after “doesn't notice”. */
  what: string;
  /** Prepares the attack, which otherwise would do nothing. */
  prepare?(play: Play): Promise<void>;
  run(play: Play): Promise<void>;
}

/** A request to send. */
export interface RequestToSend {
  token: string | null;
  body: string | ReadableStream;
  path?: string;
  headers?: Record<string, string>;
}

/** Sends a request, reads the response and counts its status. */
export async function send(
  { url, tally }: Play,
  { token, body, path = "/api/graphql/unstable", headers = {} }: RequestToSend,
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

/**
 * Sends requests one after the other, on several connections at the same time. It ignores requests to retry later.
 */
export function sendRepeatedly(
  connections: number,
  make: (play: Play, n: number) => RequestToSend,
): Attack["run"] {
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
