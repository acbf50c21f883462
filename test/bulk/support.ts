import { gzipSync } from "node:zlib";
import { pino } from "pino";
import { startBulk } from "../../src/bulk/bulk-work.ts";
import type { BulkOptions, BulkWork } from "../../src/bulk/bulk-work.ts";
import { defaultBulkLimits } from "../../src/bulk/bulk-limits.ts";
import { toApiLoginUrl } from "../../src/postgres/roles.ts";
import { gid } from "../lib/ids.ts";
import type { HttpAnswer, TestProcess } from "../lib/service.ts";
import { read } from "../lib/service.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";

/** Works on bulk operations as a process of the service does. */
export function startTestBulk(
  { app, loginUrl: url }: Pick<ShippingShop, "app" | "loginUrl">,
  options: Partial<BulkOptions> = {},
): BulkWork {
  const { headReader: reader, spend, usage } = app;
  const { usedByOthers } = usage;
  const usual = {
    url,
    apiUrl: toApiLoginUrl(url)!,
    concurrency: 1,
    tracing: null,
    limits: defaultBulkLimits,
    reader,
    spend,
    usedByOthers,
  };
  return startBulk({ ...usual, pollMs: 20, logger: pino({ level: "silent" }), ...options });
}

export interface UploadOptions {
  type?: string;
  gzip?: boolean;
  headers?: Record<string, string>;
}

/** Sends a file. */
export async function upload(
  { url }: Pick<TestProcess, "url">,
  token: string,
  resource: string,
  body: string | Buffer | AsyncIterable<Uint8Array>,
  { type = "application/jsonl", gzip = false, headers = {} }: UploadOptions = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${url}/api/bulk/${resource}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": type,
      ...(gzip && { "content-encoding": "gzip" }),
      ...headers,
    },
    body: (gzip ? gzipSync(body as string) : body) as BodyInit,
    // For bodies of unknown length
    ...{ duplex: "half" },
  });
  return read(response);
}

/** Rows as lines of JSON. */
export const jsonl = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join("\n");

const fields =
  "id kind state resource format rowCount doneCount createdCount updatedCount refusedCount progress errorCode " +
  "errorMessage createdAt startedAt finishedAt expiresAt resultUrl errorsUrl";

/** A bulk operation as a token sees it; null when it doesn't. */
export async function operation(shop: Pick<ShippingShop, "ask">, token: string, id: string): Promise<any> {
  const query = `query ($id: ID!) { bulkOperation(id: $id) { ${fields} } }`;
  const { body } = await shop.ask(token, { query, variables: { id } });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  return body.data.bulkOperation;
}

/** The bulk operation when it has ended. */
export async function ended(shop: Pick<ShippingShop, "ask">, token: string, id: string): Promise<any> {
  let found: any;
  await until(async () => {
    found = await operation(shop, token, id);
    return ["completed", "failed", "cancelled"].includes(found.state);
  });
  return found;
}

/** The lines of a file of JSON lines. */
export async function linesAt({ url }: Pick<TestProcess, "url">, path: string): Promise<any[]> {
  const text = await (await fetch(`${url}${path}`)).text();
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** A sales channel, which a shop needs for customers and orders. */
export async function addChannel(shop: ShippingShop): Promise<string> {
  const [made] = await shop.sql(`
    with country as (insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}') returning id),
    kind as (insert into erp.customer_group (name) values ('{"en-GB":"Retail"}') returning id),
    method as (insert into erp.payment_method (technical_name) values ('test_bill') returning id)
    insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
    select '{"en-GB":"Shop"}', country.id, c.id, kind.id, method.id
    from country, kind, method, erp.currency c where c.iso_code = 'EUR' returning id`);
  return gid("SalesChannel", made.id);
}
