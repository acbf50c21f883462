import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

/** Milliseconds after which a test fails that waits for an event. */
const longestWaitMs = 15_000;
const opened = new Set<AbortController>();

/** Closes all streams of this file, also of tests that failed. */
export const closeStreams = (): void => opened.forEach((stream) => stream.abort());

/** A server-sent event. */
export interface ServerSentEvent {
  event: string;
  id: string | undefined;
  data: any;
}

/** An open stream of server-sent events. */
export interface SseStream {
  status: number;
  headers: Headers;
  /** The body of an answer that is no stream. */
  body: any;
  /** The next event; null when the stream has ended. */
  next(): Promise<ServerSentEvent | null>;
  /** Whether nothing else was received so far. */
  isQuiet(): boolean;
  close(): void;
}

/** Sends a request that accepts a stream. */
export async function openStream(
  url: string,
  token: string,
  { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {},
): Promise<SseStream> {
  const aborting = new AbortController();
  opened.add(aborting);
  const response = await fetch(url, {
    ...init,
    signal: aborting.signal,
    headers: { accept: "text/event-stream", authorization: `Bearer ${token}`, ...headers },
  });
  const { status, headers: answered } = response;
  const isStream = answered.get("content-type") === "text/event-stream";
  const events: ServerSentEvent[] = [];
  const reading = isStream ? read(response, events) : null;
  return {
    status,
    headers: answered,
    body: isStream ? undefined : await response.json(),
    async next() {
      assert.ok(reading, `not a stream: ${status}`);
      const hasCome = await Promise.race([reading.wait(), pause(longestWaitMs, undefined, { ref: false })]);
      if (hasCome === undefined) throw new Error("no event has come");
      return hasCome ? events.shift()! : null;
    },
    isQuiet: () => events.length === 0,
    close: () => aborting.abort(),
  };
}

/** Reads events as they come. */
function read(response: Response, events: ServerSentEvent[]) {
  let arrival = Promise.withResolvers<void>();
  let isOver = false;
  const all = async () => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body!) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      events.push(...blocks.flatMap(parse));
      arrival.resolve();
    }
  };
  const ended = () => {
    isOver = true;
    arrival.resolve();
  };
  all().then(ended, ended);
  return {
    async wait() {
      while (events.length === 0 && !isOver) {
        await arrival.promise;
        if (!isOver) arrival = Promise.withResolvers();
      }
      return events.length > 0;
    },
  };
}

function parse(block: string): ServerSentEvent[] {
  const fields = block
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(":"))
    .map((line) => /^(\w+): ?(.*)$/.exec(line)!.slice(1) as [string, string]);
  if (fields.length === 0) return [];
  const { event = "message", id, data = "" } = Object.fromEntries(fields) as Record<string, string>;
  return [{ event, id, data: data === "" ? null : JSON.parse(data) }];
}
