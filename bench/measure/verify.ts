import type { Dispatcher } from "undici";
import { Pool } from "undici";
import type { ContestantRequest, Parameters, ReadName } from "../queries/reads.ts";
import type { Ask, Contestant, Adapter } from "../contestants/contestant.ts";
import type { Child } from "./child.ts";
import { difference, isSameAnswer } from "./equality.ts";
import type { PreparedRequest } from "./load.ts";

/** A running contestant that has been verified. */
export interface Ready {
  contestant: Contestant;
  child: Child;
  speaker: Adapter;
}

/** Parallel requests while responses are compared. */
const atOnce = 8;

export interface Asker {
  ask: Ask;
  /** Sends a request and returns the raw response. */
  askText(asked: ContestantRequest): Promise<Buffer>;
  close(): Promise<void>;
}

/**
 * Makes a function that sends a server single requests.
 *
 * @param token the service's access token, unless the server has its own
 */
export function asker({ url, token: own }: Pick<Child, "url" | "token">, token: string): Asker {
  const pool = new Pool(url, { connections: atOnce, pipelining: 1 });
  const askText = async ({ path, body }: ContestantRequest): Promise<Buffer> => {
    const options: Dispatcher.RequestOptions = {
      method: body === undefined ? "GET" : "POST",
      path,
      headers: {
        authorization: `Bearer ${own ?? token}`,
        "content-type": "application/json",
        accept: "application/json",
      },
      body: textOf(body) ?? null,
    };
    const answer = await pool.request(options);
    const text = Buffer.from(await answer.body.arrayBuffer());
    if (answer.statusCode !== 200)
      throw new Error(`HTTP ${answer.statusCode}: ${text.toString().slice(0, 300)}`);
    return text;
  };
  return {
    ask: async (asked) => JSON.parse((await askText(asked)).toString()) as unknown,
    askText,
    close: () => pool.close(),
  };
}

/**
 * Sends each request to a contestant once, and compares the responses with the correct ones.
 *
 * @param references the correct responses; null for the contestant that defines them
 * @returns its requests. Later responses are correct if they have the same text or are equal
 * @throws if a response differs, with the difference
 */
export async function verifyAnswers(
  { child, speaker }: Ready,
  token: string,
  query: ReadName,
  parameters: readonly Parameters[],
  references: readonly unknown[] | null,
): Promise<{ requests: PreparedRequest[]; answers: unknown[] }> {
  const { askText, close } = asker(child, token);
  try {
    const entries = await mapConcurrently(parameters, async (one, index) => {
      const asked = await speaker.ask(query, one);
      const text = await askText(asked);
      const answer = speaker.read(query, JSON.parse(text.toString()));
      const reference = references === null ? answer : references[index];
      const found = difference(answer, reference, query);
      if (found) throw new Error(`${found}, asked with ${JSON.stringify(one)}`);
      return { asked, text, answer, reference };
    });
    const requests = entries.map(({ asked, text, reference }) => ({
      path: asked.path,
      body: textOf(asked.body),
      isRight(status: number, body: Buffer) {
        if (status !== 200) return false;
        return body.equals(text) || isSameAnswer(speaker.read(query, JSON.parse(body.toString())), reference);
      },
    }));
    return { requests, answers: entries.map(({ answer }) => answer) };
  } finally {
    await close();
  }
}

const textOf = (body: unknown): string | undefined => (body === undefined ? undefined : JSON.stringify(body));

/** Maps entries concurrently, and keeps their order. */
async function mapConcurrently<T, R>(
  entries: readonly T[],
  work: (entry: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const one = async () => {
    for (let index = next++; index < entries.length; index = next++) {
      results[index] = await work(entries[index]!, index);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return results;
}
