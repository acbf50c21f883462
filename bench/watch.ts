import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "../src/commands/terminal.ts";
import { Project } from "../test/commands/project.ts";
import type { Cleanup } from "./cleanup.ts";
import type { BenchOptions } from "./options.ts";
import { describeMachine } from "./report/machine.ts";
import type { Save } from "./report/watch.ts";
import { watchFiles } from "./report/watch.ts";
import { writeResults } from "./report/write.ts";

/** The third version: a frozen copy of `unstable`. */
const third = "2027-01-unstable";
const saves = { full: 20, quick: 8 };
/** Pauses between two requests of a client, and between two saves, in milliseconds. */
const askEveryMs = 5;
const pauseMs = 1_000;
/** Milliseconds after a start until the shadow database surely exists. */
const shadowMs = 10_000;

/**
 * Measures the time from saving a file to the changed API, and how long other requests wait meanwhile.
 *
 * @returns whether all changes arrived, and no other request failed
 */
export async function watch(options: BenchOptions, cleanup: Cleanup): Promise<boolean> {
  const project = await Project.copy();
  cleanup.add(() => project.remove());
  await addThirdVersion(project);
  const service = project.start(["db", "watch"], {
    ...{ LIMIT_BUCKET: "1000000000", LIMIT_REFILL: "1000000000", LIMIT_TOKEN_REQUESTS: "1000000" },
  });
  cleanup.add(async () => {
    service.kill("SIGTERM");
    await service.ended;
  });
  const [, url] = await service.said(/The API is at (http:\/\/[^/]+)/);
  const [, path] = await service.said(/password are in (\S+),/);
  const secrets = await readFile(path!, "utf8");
  const [, id] = /client_id +(\S+)/.exec(secrets)!;
  const [, secret] = /client_secret +(\S+)/.exec(secrets)!;
  await service.said(/The API follows the database/);
  const client = await Client.open(url!, id!, secret!);
  const products = await project.read("db/fixtures/api/products.sql");
  const done: Save[] = [];
  const count = options.quick ? saves.quick : saves.full;
  // Without the shadow database, saves hold their locks for longer
  await sleep(shadowMs);
  // The first rounds warm up code that is compiled while it runs
  for (let round = -2; round < count; round++) {
    await sleep(pauseMs);
    const number = round + 10;
    const save = await saveOnce(client, number, () =>
      project.write("db/current/900-weight.sql", withWeight(products, number)),
    );
    if (round < 0) continue;
    done.push(save);
    say(
      `${Math.round(save.ms)} ms; others waited ${Math.round(save.others)} ms, for products ${Math.round(save.same)}`,
    );
  }
  const files = await writeResults(watchFiles({ saves: done, machine: describeMachine("18"), options }));
  say(`Written: ${files.join(", ")}`);
  return done.every(({ failures }) => failures === 0);
}

async function addThirdVersion(project: Project): Promise<void> {
  await project.commitCurrent();
  const schemaName = `api_${third.replaceAll("-", "_")}`;
  await project.commit("release", `select api_meta.freeze('api_unstable', '${schemaName}');\n`);
  const file = "src/versions/versions.json";
  const list = JSON.parse(await project.read(file)) as object[];
  await project.write(file, JSON.stringify(list.toSpliced(-1, 0, { slug: third, releasedOn: "2026-06-16" })));
  await rm(join(project.path, "db/current/1-current.sql"), { force: true });
}

/** Returns a migration that adds a column to products, as in CONTRIBUTING.md. */
const withWeight = (products: string, number: number) => `
alter table erp.product drop column if exists weight_${number - 1} cascade;
alter table erp.product drop column if exists weight_${number} cascade;
alter table erp.product add column weight_${number} integer;
comment on column erp.product.weight_${number} is 'Weight of one unit, in grams.';
drop view if exists api_unstable.products;
${products.replace(/^select id,/m, `select id, weight_${number},`)}`;

/** Saves a change and waits until the API has it, while clients send other requests. */
async function saveOnce(client: Client, number: number, write: () => Promise<void>): Promise<Save> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const others = [
    client.longest("unstable", "{ countrys(first: 1) { edges { node { id } } } }", signal),
    client.longest("2026-06-unstable", "{ orders(first: 1) { edges { node { id } } } }", signal),
    client.longest(third, "{ countrys(first: 1) { edges { node { id } } } }", signal),
  ];
  const same = client.longest("2026-06-unstable", "{ products(first: 1) { edges { node { id } } } }", signal);
  await sleep(100);
  const begin = performance.now();
  await write();
  const query = `{ products(first: 1) { edges { node { weight${number} } } } }`;
  while (!(await client.ask("unstable", query))) await sleep(askEveryMs);
  const ms = performance.now() - begin;
  await sleep(pauseMs); // Work after the response must not delay other requests either
  stopping.abort();
  const waits = await Promise.all(others);
  const own = await same;
  const failures = [...waits, own].reduce((sum, wait) => sum + wait.failures, 0);
  return { ms, others: Math.max(...waits.map((wait) => wait.longest)), same: own.longest, failures };
}

/** A client of the service with one access token. */
class Client {
  readonly #url: string;
  readonly #token: string;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  static async open(url: string, id: string, secret: string): Promise<Client> {
    const body = { grant_type: "client_credentials", client_id: id, client_secret: secret };
    const answer = await fetch(`${url}/api/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    return new Client(url, token);
  }

  /** Sends a query. @returns whether the response has no errors */
  async ask(version: string, query: string): Promise<boolean> {
    const answer = await fetch(`${this.#url}/api/graphql/${version}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.#token}` },
      body: JSON.stringify({ query }),
    });
    const { errors } = (await answer.json()) as { errors?: unknown };
    return errors === undefined;
  }

  /** Repeats a query until it is stopped. @returns the longest time */
  async longest(
    version: string,
    query: string,
    signal: AbortSignal,
  ): Promise<{ longest: number; failures: number }> {
    let [longest, failures] = [0, 0];
    while (!signal.aborted) {
      const begin = performance.now();
      if (!(await this.ask(version, query))) failures++;
      longest = Math.max(longest, performance.now() - begin);
      await sleep(askEveryMs);
    }
    return { longest, failures };
  }
}
