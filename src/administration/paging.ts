import type { PoolClient } from "pg";
import { html } from "../html/html.ts";
import type { Html } from "../html/html.ts";
import { queryParameter } from "./forms.ts";
import { callForRows } from "./visit.ts";
import type { Visit } from "./visit.ts";

/** Most rows of a page. One more is read, to see whether another page follows. */
const pageSize = 50;

/** A page of a list, newest first, with links to the first and the next page. */
export interface PageOfRows<Row> {
  rows: Row[];
  isFirst: boolean;
  links: Html;
}

/**
 * Reads the page of a list that follows the id in the query parameter `before`.
 *
 * @param call an SQL call whose first two values are this id, or null, and a number of rows
 */
export async function readPage<Row extends { id: string }>(
  visit: Visit,
  client: PoolClient,
  call: string,
  ...values: unknown[]
): Promise<PageOfRows<Row>> {
  const before = queryParameter(visit, "before") || null;
  const read = await callForRows<Row>(client, call, before, pageSize + 1, ...values);
  const rows = read.slice(0, pageSize);
  const address = new URL(visit.request.originalUrl, visit.origin);
  address.searchParams.delete("done");
  const linkTo = (title: string, id: string | undefined) => {
    address.searchParams.delete("before");
    if (id !== undefined) address.searchParams.set("before", id);
    return html`<a class="button" href="${address.pathname}${address.search}">${title}</a>`;
  };
  const links = html`<div class="actions">
    ${before !== null && linkTo("Newest", undefined)}
    ${read.length > pageSize && linkTo("Older", rows.at(-1)!.id)}
  </div>`;
  return { rows, isFirst: before === null, links };
}
