import { setTimeout as sleep } from "node:timers/promises";
import { ApiClient } from "../src/commands/api-client.ts";
import { beginExport } from "./queries/export.ts";
import type { Testbed } from "./testbed.ts";

/** Milliseconds for which a stream is read. */
const streamMs = 1_000;

/** Status of the answer to a wrong password. */
const wrongPassword = 422;

/** The service and shared data of the phases. */
export interface PhaseContext {
  url: string;
  client: ApiClient;
  /** Addresses of documents. */
  documents: readonly string[];
  /** Paths of the documentation that are known so far. */
  pages: string[];
}

/** A kind of work that uses memory of the service. */
export interface Phase {
  name: string;
  connections: number;
  /** Does the work once. @throws if the service refuses it */
  once(playground: PhaseContext, n: number): Promise<unknown>;
}

/** @param testbed whose database is changed: by exports and log-ins */
export async function openPlayground(url: string, { credential }: Testbed): Promise<PhaseContext> {
  const { clientId, clientSecret } = credential;
  const client = new ApiClient({
    API_URL: url,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
  });
  const { documents } = await client.execute<{
    documents: { edges: { node: { downloadUrl: string } }[] };
  }>("{ documents(first: 250) { edges { node { downloadUrl } } } }", {});
  return {
    ...{ url, client, pages: ["/docs", "/docs/unstable"] },
    documents: documents.edges.map(({ node }) => onService(url, node.downloadUrl)),
  };
}

/** Corrects a URL of the service, which may not know its own port. */
function onService(url: string, address: string): string {
  const { pathname, search } = new URL(address, url);
  return url + pathname + search;
}

async function read(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (response.status >= 400 && response.status !== wrongPassword)
    throw new Error(`HTTP ${response.status}: ${url}`);
  return text;
}

/** Requests a page of the documentation, and collects its links. */
async function visit({ url, pages }: PhaseContext, n: number): Promise<void> {
  const text = await read(url + pages[n % pages.length]!);
  const links = [...text.matchAll(/href="(\/docs[^"#?]*)"/g)].map(([, path]) => path!);
  pages.push(...new Set(links).difference(new Set(pages)));
}

/** Logs in at the administration with a wrong password, each from another address. */
async function logIn({ url }: PhaseContext, n: number): Promise<void> {
  const from = { "x-forwarded-for": `198.18.${(n >> 8) & 255}.${n & 255}` };
  const form = await fetch(`${url}/admin/log-in`, { headers: from });
  const cookie = form.headers.getSetCookie().map((each) => each.split(";")[0]!);
  const [, csrf] = /name="_csrf" value="([^"]+)"/.exec(await form.text())!;
  await read(`${url}/admin/log-in`, {
    method: "POST",
    redirect: "manual",
    headers: { ...from, cookie: cookie.join("; "), origin: url },
    body: new URLSearchParams({
      _csrf: csrf!,
      name: `nobody ${n}`,
      password: "a wrong password",
    }),
  });
}

/** Writes a list to a file, and reads it. */
async function exportList({ client, url }: PhaseContext): Promise<void> {
  const query =
    "{ orders { edges { node { orderNumber lineItems { edges { node { label quantity } } } } } } }";
  const id = await beginExport(client, query);
  await client.follow(id, () => {});
  const { bulkOperation } = await client.execute<{
    bulkOperation: { resultUrl: string };
  }>("query ($id: ID!) { bulkOperation(id: $id) { resultUrl } }", { id });
  await read(onService(url, bulkOperation.resultUrl));
}

async function listen({ client }: PhaseContext): Promise<void> {
  const response = await client.sendAuthorized("/api/events", {});
  await sleep(streamMs);
  await response.body!.cancel();
}

/** Introspection that no cached text answers. */
const introspect = ({ client }: PhaseContext, n: number): Promise<unknown> =>
  client.execute(
    `query Q${n}_${performance.now().toFixed(0)} { __schema { types { name description fields { name description } } } }`,
    {},
  );

/** All phases except reads, in the order of measurement. */
export const phases: readonly Phase[] = [
  {
    name: "PDFs",
    connections: 4,
    once: ({ documents }, n) => read(documents[n % documents.length]!),
  },
  { name: "pages of /docs", connections: 2, once: visit },
  { name: "log-ins at /admin", connections: 8, once: logIn },
  { name: "introspection", connections: 2, once: introspect },
  { name: "exports", connections: 2, once: exportList },
  { name: "streams", connections: 10, once: listen },
];

/** Results of phases. */
export interface Done {
  count: number;
  /** Messages of failures. */
  failures: string[];
}

/** Runs phases concurrently for some time. */
export async function runPhases(
  playground: PhaseContext,
  played: readonly Phase[],
  seconds: number,
): Promise<Done> {
  const end = performance.now() + seconds * 1_000;
  const done: Done = { count: 0, failures: [] };
  const one = async ({ once }: Phase, counter: { n: number }) => {
    while (performance.now() < end) {
      await once(playground, counter.n++).catch((error: Error) => done.failures.push(error.message));
      done.count++;
    }
  };
  await Promise.all(
    played.flatMap((phase) => {
      const counter = { n: 0 };
      return Array.from({ length: phase.connections }, () => one(phase, counter));
    }),
  );
  return done;
}
