import { Client } from "undici";

/** A prepared request with a check of its response. */
export interface PreparedRequest {
  path: string;
  /** Request body of a POST. Without a body it is a GET. */
  body?: string;
  /** Access token of its client, if there are many clients. */
  token?: string;
  /** Whether a response is correct. */
  isRight(status: number, body: Buffer): boolean;
}

export interface LoadOptions {
  url: string;
  /** Access token of requests without their own. */
  token?: string;
  connections: number;
  /** The requests to repeat. Each connection starts at a different one. */
  requests: readonly PreparedRequest[];
  /** Stop after this time, in milliseconds. Running requests are completed. */
  seconds?: number;
  /** Stop after this many requests, which free connections take in order. */
  count?: number;
}

export interface LoadResult {
  requests: number;
  /** Number of wrong responses. */
  failures: number;
  seconds: number;
  /** Latency of each request, in milliseconds. */
  latencies: number[];
}

/** Sends requests to a server on several connections. Each sends its next request after a response. */
export async function load({
  url,
  token = "",
  connections,
  requests,
  seconds = Infinity,
  count,
}: LoadOptions): Promise<LoadResult> {
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json",
  };
  const clients = Array.from({ length: connections }, () => new Client(url, { pipelining: 1 }));
  const latencies: number[] = [];
  let failures = 0;
  const begin = performance.now();
  const end = begin + seconds * 1000;
  let shared = 0;
  await Promise.all(
    clients.map(async (client, index) => {
      // Far apart, so that connections don't send the same request at the same time
      let own = Math.floor((index * requests.length) / connections);
      while (performance.now() < end) {
        if (count !== undefined && shared >= count) break;
        const next = count === undefined ? own++ : shared++;
        const request = requests[next % requests.length]!;
        const sent = performance.now();
        const isRight = await send(client, headers, request).catch(() => false);
        latencies.push(performance.now() - sent);
        if (!isRight) failures++;
      }
    }),
  );
  const duration = (performance.now() - begin) / 1000;
  await Promise.all(clients.map((client) => client.close()));
  return { requests: latencies.length, failures, seconds: duration, latencies };
}

function send(
  client: Client,
  headers: Record<string, string>,
  { path, body, token, isRight }: PreparedRequest,
): Promise<boolean> {
  const sent = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
  return new Promise((done, failed) => {
    const chunks: Buffer[] = [];
    let status = 0;
    client.dispatch(
      { method: body === undefined ? "GET" : "POST", path, headers: sent, body: body ?? null },
      {
        // undici demands it
        onRequestStart() {},
        onResponseStart: (_controller, statusCode) => void (status = statusCode),
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => done(isRight(status, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))),
        onResponseError: (_controller, error) => failed(error),
      },
    );
  });
}
