import { html } from "../html/html.ts";
import type { Html } from "../html/html.ts";

const dateAndTime = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "short",
  timeZone: "UTC",
});
const dateOnly = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
const wholeNumber = new Intl.NumberFormat("en-GB");

/** A time, in UTC. */
export function moment(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${dateAndTime.format(date)} UTC</time>`;
}

/** A time, within a sentence. */
export function momentText(date: Date): string {
  return `${dateAndTime.format(date)} UTC`;
}

/** A day. */
export function day(date: Date): Html {
  return html`<time datetime="${date.toISOString().slice(0, 10)}">${dateOnly.format(date)}</time>`;
}

/** A number with separators of thousands. */
export function count(number: number): string {
  return wholeNumber.format(number);
}

/** Name of a resource such as `supplier_orders` on pages. */
export function resourceName(resource: string): string {
  const words = resource.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}
