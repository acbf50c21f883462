import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { createCredential } from "../../src/auth/credentials.ts";
import {
  addMerchantDatabase,
  merchantDatabaseName,
  dropMerchantDatabase,
} from "../../src/merchants/merchant-database.ts";
import { urlOfDatabase } from "../../src/migrations/templates.ts";
import { urlAsOwner } from "../../src/postgres/roles.ts";
import { storeMerchant } from "../../src/merchants/directory.ts";
import type { Merchant } from "../../src/merchants/merchant.ts";
import { serveMerchants } from "../../src/merchants/serve-merchants.ts";
import type { ServingMerchants } from "../../src/merchants/serve-merchants.ts";
import { parseSettings } from "../../src/process/settings.ts";
import { versions } from "../../src/versions/versions.ts";

const adminUrl = process.env.TEST_ADMIN_URL!;

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: any;
  text: string;
}

/** Several merchants, each with its own database, served by one process. */
export interface TestMerchants {
  folder: string;
  merchants: Merchant[];
  serving: ServingMerchants;
  log: Record<string, any>[];
  /** Sends a GraphQL request to a merchant's host. */
  ask(
    host: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    method?: string,
  ): Promise<Answer>;
  tokenAt(merchant: Merchant, write?: "all" | []): Promise<string>;
  close(): Promise<void>;
}

export const hostOf = ({ hosts }: Merchant): string => hosts[0]!;

/** Runs a function on a connection, and then closes it. */
export async function withConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Runs a function on a connection of the owner of a merchant's database, and then closes it. */
export const owner = <T>(merchant: Merchant, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withConnection(urlAsOwner(urlOfDatabase(adminUrl, merchantDatabaseName(merchant.name))), work);

export interface TestMerchantsOptions {
  count: number;
  /** Variables of the environment. */
  settings?: Record<string, string>;
  aloneAfterMs?: number;
  /** Called with each merchant before it is stored. */
  prepare?: (merchant: Merchant, n: number) => Merchant | Promise<Merchant>;
}

export async function openMerchants({
  count,
  settings: given = {},
  aloneAfterMs,
  prepare = (merchant) => merchant,
}: TestMerchantsOptions): Promise<TestMerchants> {
  const folder = await mkdtemp(join(tmpdir(), "merchants-"));
  const merchants: Merchant[] = [];
  for (let n = 0; n < count; n++) {
    const name = `test-${process.pid}-${n}`;
    const databaseUrl = await addMerchantDatabase(adminUrl, name, { template: "template_schema" });
    const hosts = [`${name}.example`];
    merchants.push(await prepare({ name, databaseUrl, hosts, hasPath: n === 1, state: "active" }, n));
    await storeMerchant(folder, merchants[n]!);
  }
  const settings = parseSettings({ MERCHANTS: folder, PORT: "0", EXPLORER: "false", ...given });
  const log: Record<string, any>[] = [];
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const head = versions.filter(({ kind }) => kind === "floating");
  const serving = await serveMerchants({
    ...{ settings: { ...settings, merchants: folder }, logger, versions: head, aloneAfterMs, spreadMs: 0 },
  });
  const ask = asker(serving);
  return {
    ...{ folder, merchants, serving, log, ask },
    async tokenAt(merchant, write = []) {
      const { clientId: client_id, clientSecret: client_secret } = await owner(merchant, (client) =>
        createCredential(client, { name: "test", read: "all", write }),
      );
      const grant = { grant_type: "client_credentials", client_id, client_secret };
      const { body } = await ask(hostOf(merchant), "/api/oauth/token", grant);
      return body.access_token;
    },
    async close() {
      await serving.stop();
      for (const { name } of merchants)
        await dropMerchantDatabase(adminUrl, name, merchantDatabaseName(name));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const asker =
  ({ port }: ServingMerchants): TestMerchants["ask"] =>
  (host, path, body, headers = {}, method = body === undefined ? "GET" : "POST") =>
    new Promise((resolve, reject) => {
      const sent = request({
        ...{ host: "127.0.0.1", port, path, method, agent: false },
        headers: { host, "content-type": "application/json", ...headers },
      });
      sent.on("error", reject).on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => {
          const { statusCode, headers } = response;
          const isJson = headers["content-type"]?.includes("json");
          resolve({ status: statusCode!, headers, text, body: isJson ? JSON.parse(text) : null });
        });
      });
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
