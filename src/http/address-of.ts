import proxyaddr from "proxy-addr";
import type { Request } from "./pipeline.ts";

/** Whether the address at this number of hops belongs to a trusted proxy. */
export type Trust = (address: string, hops: number) => boolean;

/**
 * Returns a check of whether a proxy may state the client's address.
 *
 * @param trusted their addresses, ranges or names such as `loopback`, separated by commas; or their number
 */
export function createProxyTrust(trusted: string | number | false): Trust {
  if (typeof trusted === "string") return proxyaddr.compile(trusted.split(",").map((each) => each.trim()));
  return (_address, hops) => hops < Number(trusted);
}

/** Returns a function that finds the address of a request's client. */
export const createAddressFinder =
  (trust: Trust) =>
  (request: Request): string =>
    proxyaddr(request, trust) || "";
