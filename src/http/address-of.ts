import proxyaddr from "proxy-addr";
import type { Request } from "./pipeline.ts";

/** Whether an address, so many hops away, is that of a proxy which is believed. */
export type Trust = (address: string, hops: number) => boolean;

/**
 * Which proxies are believed about the client's address.
 *
 * @param trusted their addresses, ranges or names such as `loopback`, separated by commas; or how many there are
 */
export function trustOf(trusted: string | number | false): Trust {
  if (typeof trusted === "string") return proxyaddr.compile(trusted.split(",").map((each) => each.trim()));
  return (_address, hops) => hops < Number(trusted);
}

/** Finds out the address of a request's client. */
export const addressBy =
  (trust: Trust) =>
  (request: Request): string =>
    proxyaddr(request, trust) || "";
