import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../measure/statistics.ts";

/** Results of ordinary clients. */
export interface ClientResults {
  requests: number;
  /** Failures: status and codes. */
  failures: string[];
  /** Milliseconds: median, p99 and maximum. */
  p50: number;
  p99: number;
  max: number;
}

const queries = [
  "{ products(first: 10) { edges { node { id productNumber availableStock } } } }",
  "{ orders(first: 5) { edges { node { orderNumber lineItems(first: 5) { edges { node { label product { productNumber } } } } } } } }",
  '{ customers(first: 1, filter: { customerNumber: { equals: "10001" } }) { edges { node { id email } } } }',
];

/** Number of ordinary clients, and requests per second of each. They cost less than the refill of points in that time. */
export const normalClients = { clients: 4, perSecond: 15 };
/** One of this many requests uses a new connection, as the first request of a client does. */
const newConnectionEvery = 4;
/** Milliseconds after which a request counts as failed. */
const timeoutMs = 20_000;

/** An ordinary client with its access token. */
export interface NormalClient {
  url: string;
  token: string;
}

/**
 * Sends requests as ordinary clients do, for some time. Each client has a steady rate, whether or not it has responses to
 * earlier requests.
 */
export async function measureClients(
  clients: readonly NormalClient[],
  seconds: number,
  perSecond: number = normalClients.perSecond,
): Promise<ClientResults> {
  const agent = new Agent({ keepAlive: true });
  const durations: number[] = [];
  const failures: string[] = [];
  const one = async (n: number) => {
    const begun = performance.now();
    const { url, token } = clients[n % clients.length]!;
    const failure = await ask(url, {
      token,
      query: queries[n % queries.length]!,
      agent: n % newConnectionEvery ? agent : new Agent(),
    });
    durations.push(performance.now() - begun);
    if (failure !== null) failures.push(failure);
  };
  const intervalMs = 1_000 / (perSecond * clients.length);
  const start = performance.now();
  const sent: Promise<void>[] = [];
  for (let n = 0; n * intervalMs < seconds * 1_000; n++) {
    await sleep(Math.max(0, start + n * intervalMs - performance.now()));
    sent.push(one(n));
  }
  await Promise.all(sent);
  agent.destroy();
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(durations, share));
  return { requests: durations.length, failures, p50: p50!, p99: p99!, max: max! };
}

interface ClientRequest {
  token: string;
  query: string;
  agent: Agent;
}

/** Sends a request. @returns a description of the failure, or null */
function ask(url: string, { token, query, agent }: ClientRequest): Promise<string | null> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const options = { method: "POST", agent, headers, signal: AbortSignal.timeout(timeoutMs) };
    const sent = request(`${url}/api/graphql/unstable`, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("error", (error) => resolve(String(error)));
      response.on("end", () => resolve(failureOf(response.statusCode!, text)));
    });
    sent.on("error", (error) => resolve(String(error)));
    sent.end(JSON.stringify({ query }));
  });
}

function failureOf(status: number, text: string): string | null {
  const { errors } = JSON.parse(text) as { errors?: { extensions: { code: string } }[] };
  return errors ? `${status} ${errors.map(({ extensions }) => extensions.code).join()}` : null;
}
