import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../../src/commands/terminal.ts";
import type { Merchant } from "../../src/merchants/merchant.ts";
import { freePort } from "../../test/lib/free-port.ts";
import type { Cleanup } from "../cleanup.ts";
import { serviceContestant } from "../contestants/service.ts";
import { findServer } from "../data/server.ts";
import { duringAttack } from "../fairness/beside-attack.ts";
import { busyMerchant } from "../fairness/attacks/busy-merchant.ts";
import type { ClientResults } from "../fairness/normal-clients.ts";
import { measureClients } from "../fairness/normal-clients.ts";
import { load } from "../measure/load.ts";
import type { PreparedRequest } from "../measure/load.ts";
import type { Child } from "../measure/child.ts";
import { startChild } from "../measure/child.ts";
import { postgresCpu } from "../measure/postgres-cpu.ts";
import { median, quantile } from "../measure/statistics.ts";
import { ConnectionCounter } from "./connections.ts";
import type { Merchants } from "./databases.ts";
import { makeBusy } from "./databases.ts";
import type { Beside, Resources, Times } from "../report/merchants.ts";

const path = "/api/graphql/unstable";
const mib = 2 ** 20;
/** Connections of steady requests. */
const connections = 16;
/** Number of other merchants, their requests per second, and rounds with and without the busy merchant. */
export const others = { count: 20, perSecond: 5, rounds: 2 };
const idleSeconds = 10;
const visitedEveryMs = 500;

/** Access tokens: of each merchant's first client, and of the busy merchant's other clients. */
export interface Tokens {
  all: { merchant: Merchant; token: string }[];
  busy: string[];
  times: Times;
}

/** The steps of the measurement. */
export class Bench {
  readonly #made: Merchants;
  readonly #counter: ConnectionCounter;
  readonly #cleanup: Cleanup;
  #metricsPort = 0;
  #postmaster = 0;

  constructor(made: Merchants, counter: ConnectionCounter, cleanup: Cleanup) {
    this.#made = made;
    this.#counter = counter;
    this.#cleanup = cleanup;
  }

  async start(): Promise<Child> {
    this.#postmaster = (await findServer(this.#made.adminUrl)).postmaster;
    this.#metricsPort = await freePort();
    const child = await startChild({
      program: new URL("server.ts", import.meta.url),
      execArgv: serviceContestant.execArgv ?? [],
      environment: {
        ...serviceContestant.environment,
        ...{ NODE_ENV: "production", GRAPHILE_ENV: "production", LOG_LEVEL: "error" },
        ...{ HOST: "127.0.0.1", PORT: "0", METRICS_PORT: String(this.#metricsPort) },
        ...{ MERCHANTS: this.#made.folder, RUN_AS: "root" },
      },
    });
    this.#cleanup.add(() => child.stop());
    return child;
  }

  /** Measures the first request to a new merchant, for an access token. It creates the merchant's signing key. */
  async tokens({ url }: Child): Promise<Tokens> {
    const { all, credentials } = this.#made;
    const exchange = async (merchant: Merchant, n: number): Promise<string> => {
      const { clientId: client_id, clientSecret: client_secret } = credentials[n]!;
      const response = await fetch(`${urlOf(url, merchant)}/api/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret }),
      });
      if (!response.ok) throw new Error(`No token: HTTP ${response.status} ${await response.text()}`);
      return ((await response.json()) as { access_token: string }).access_token;
    };
    const durations: number[] = [];
    const tokens: Tokens["all"] = [];
    for (const merchant of all) {
      const begin = performance.now();
      tokens.push({ merchant, token: await exchange(merchant, 0) });
      durations.push(performance.now() - begin);
      if (tokens.length % 100 === 0) say(`Tokens of ${tokens.length} merchants`);
    }
    const busy = await Promise.all(credentials.map((_, n) => exchange(all[0]!, n)));
    return { all: tokens, busy, times: timesOf(durations.slice(1), 0) };
  }

  /** @returns milliseconds of the very first request, which builds the schemas */
  async build({ url }: Child, token: Tokens["all"][number]): Promise<number> {
    const first = await load({ url, connections: 1, requests: [requestOf(token)], count: 1 });
    if (first.failures > 0) throw new Error("The first request was answered wrongly.");
    return first.latencies[0]!;
  }

  /** Measures each merchant's first request, one after the other. */
  async open({ url, usage }: Child, tokens: Tokens["all"]): Promise<Times> {
    const requests = tokens.map(requestOf);
    const before = await this.#cpu(usage);
    const latencies: number[] = [];
    let failures = 0;
    for (let from = 0; from < requests.length; from += 100) {
      const some = requests.slice(from, from + 100);
      const result = await load({ url, connections: 1, requests: some, count: some.length });
      latencies.push(...result.latencies);
      failures += result.failures;
      say(`Opened: ${latencies.length + 1}, the last ones in ${median(result.latencies).toFixed(0)} ms`);
    }
    return { ...timesOf(latencies, failures), ...(await this.#cpuSince(before, usage, latencies.length)) };
  }

  /** Waits until the process has asked each merchant whether there is work, as it does after a start. */
  async visited(): Promise<void> {
    while ((await this.#figure("service_merchants_visits_total")) < this.#made.all.length)
      await sleep(visitedEveryMs);
  }

  /** Measures requests to random merchants. */
  async steady({ url, usage }: Child, tokens: Tokens["all"], seconds: number): Promise<Times> {
    const requests = Array.from({ length: 10_000 }, () =>
      requestOf(tokens[Math.floor(Math.random() * tokens.length)]!),
    );
    const before = await this.#cpu(usage);
    const result = await load({ url, connections, requests, seconds });
    const times = timesOf(result.latencies, result.failures);
    say(`Steady: ${Math.round(result.requests / result.seconds)}/s, ${result.failures} wrong`);
    return {
      ...times,
      perSecond: result.requests / result.seconds,
      ...(await this.#cpuSince(before, usage, result.requests)),
    };
  }

  /** @returns milliseconds of processor time for each merchant until counts are written and connections are closed */
  async settle({ usage }: Child, ms: number): Promise<{ node: number; postgres: number }> {
    const before = await this.#cpu(usage);
    await sleep(ms);
    const { nodeCpu, postgresCpu: ofPostgres } = await this.#cpuSince(before, usage, this.#made.all.length);
    return { node: nodeCpu / 1_000, postgres: ofPostgres / 1_000 };
  }

  /** @returns milliseconds of processor time in a second without requests */
  async rest({ usage }: Child): Promise<{ node: number; postgres: number }> {
    const before = await this.#cpu(usage);
    await sleep(idleSeconds * 1_000);
    const { nodeCpu, postgresCpu: ofPostgres } = await this.#cpuSince(before, usage, idleSeconds * 1_000);
    return { node: nodeCpu, postgres: ofPostgres };
  }

  /** Measures ordinary clients of some merchants, with and without a busy merchant, in turns. */
  async besideBusy({ url }: Child, { all, busy }: Tokens, seconds: number): Promise<Beside[]> {
    const { merchant } = all[0]!;
    await makeBusy(this.#made.adminUrl, merchant);
    const clients = all
      .slice(1, 1 + others.count)
      .map(({ merchant: each, token }) => ({ url: urlOf(url, each), token }));
    const [token, ...more] = busy;
    const target = { url: urlOf(url, merchant), token: token!, poor: token!, others: more };
    const ask = () => measureClients(clients, seconds, others.perSecond);
    await ask();
    const rounds: Beside[] = [];
    for (let round = 0; round < others.rounds; round++) {
      const quiet = await ask();
      const { done, answers } = await duringAttack(busyMerchant.name, target, ask);
      await this.#counter.untilQuiet();
      say(`Alone ${told(quiet)}; beside a busy one ${told(done)}; the busy one: ${JSON.stringify(answers)}`);
      rounds.push({ quiet, beside: done, answers });
    }
    return rounds;
  }

  async resources({ usage }: Child, when: string): Promise<Resources> {
    const { memory } = await usage();
    const open = await this.#figure("service_merchants_open");
    const connected = await this.#counter.now();
    const most = this.#counter.takeMost();
    say(`After ${when}: ${Math.round(memory / mib)} MiB, ${open} merchants open, ${connected} connections`);
    return { when, memory: memory / mib, open, connected, most };
  }

  async #figure(name: string): Promise<number> {
    const metrics = await (await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)`, "m").exec(metrics)?.[1] ?? Number.NaN);
  }

  /** Microseconds of processor time until now. */
  async #cpu(usage: Child["usage"]): Promise<[node: number, postgres: number]> {
    return [(await usage()).cpu, (await postgresCpu(this.#postmaster)) ?? Number.NaN];
  }

  async #cpuSince(before: [number, number], usage: Child["usage"], parts: number) {
    const [node, ofPostgres] = await this.#cpu(usage);
    return { nodeCpu: (node - before[0]) / parts, postgresCpu: (ofPostgres - before[1]) / parts };
  }
}

const urlOf = (url: string, { name }: Merchant): string => `${url}/m/${name}`;

const query = JSON.stringify({
  query: "{ products(first: 10) { edges { node { id productNumber availableStock } } } }",
});

const requestOf = ({ merchant, token }: Tokens["all"][number]): PreparedRequest => ({
  path: `/m/${merchant.name}${path}`,
  body: query,
  token,
  isRight: (status, body) => status === 200 && body.includes('"productNumber":"P1'),
});

function timesOf(latencies: readonly number[], failures: number): Times {
  return {
    ...{ p50: median(latencies), p99: quantile(latencies, 0.99), max: Math.max(...latencies) },
    ...{
      requests: latencies.length,
      failures,
      nodeCpu: Number.NaN,
      postgresCpu: Number.NaN,
      perSecond: Number.NaN,
    },
  };
}

const told = ({ p50, p99, failures }: ClientResults): string =>
  `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${failures.length} failed`;
