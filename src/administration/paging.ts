import type { Request } from "express";
import { html } from "../html/html.ts";
import type { Html } from "../html/html.ts";
import { isUuid } from "../lib/uuid.ts";
import { missing } from "./problem.ts";

/** Rows of a page. One more is read, to see whether another page follows. */
export const pageSize = 50;

/** The id of the row before which the page of a list begins; null on the first page. */
export function startOfPage(request: Request): string | null {
  const before = request.query.before ?? null;
  if (before !== null && !isUuid(before)) throw missing();
  return before;
}

/** The rows of a page, newest first, and links to the first and the next one. */
export function pageOf<Row extends { id: string }>(
  rows: readonly Row[],
  before: string | null,
  address: string,
): { shown: Row[]; links: Html } {
  const shown = rows.slice(0, pageSize);
  const older = `${address}${address.includes("?") ? "&" : "?"}before=${shown.at(-1)?.id}`;
  return {
    shown,
    links: html`<div class="actions">
      ${before !== null && html`<a class="button" href="${address}">Newest</a>`}
      ${rows.length > pageSize && html`<a class="button" href="${older}">Older</a>`}
    </div>`,
  };
}
