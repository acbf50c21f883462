import { lookup as resolve } from "node:dns";
import type { LookupAddress, LookupAllOptions } from "node:dns";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { UserError } from "../errors/user-error.ts";
import type { AllowList } from "./addresses.ts";
import { isPublic } from "./addresses.ts";

/** Thrown for a destination that nothing may be sent to. The message is for who has named it. */
export class RefusedDestination extends UserError {
  override name = "RefusedDestination";
}

const defaultPorts: Record<string, number> = { "http:": 80, "https:": 443 };

/** Returns the host of a URL, without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/**
 * Parses the address of a webhook. Unusual spellings of IP addresses, such as `0x7f.1`, are normalised.
 *
 * @throws {RefusedDestination} if nothing may be sent there. Host names aren't looked up here
 */
export function parseDestination(text: string, allowed: AllowList): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new RefusedDestination("Messages are sent to https: and http: addresses only.");
  if (url.username !== "" || url.password !== "")
    throw new RefusedDestination("The address must not have a name and password in it.");
  const host = hostOf(url);
  if (allowed.hasName(host)) return url;
  if (isIP(host) && allowed.hasAddress(host)) return url;
  if (isIP(host) && !isPublic(host))
    throw new RefusedDestination("The address is not on the public internet.");
  const port = url.port === "" ? defaultPorts[url.protocol]! : Number(url.port);
  if (!allowed.ports.includes(port))
    throw new RefusedDestination(
      `Messages are not sent to port ${port}, only to ${allowed.ports.join(" and ")}.`,
    );
  return url;
}

type LookUp = typeof resolve;
type LookUpCallback = (error: Error | null, found: LookupAddress[]) => void;

/**
 * Makes a DNS look-up for connections that returns only allowed addresses. The connection uses exactly these addresses, so a
 * name that resolves to another address later gains nothing.
 *
 * @param look the look-up to use; by default the machine's resolver
 */
export function guardedLookup(allowed: AllowList, look: LookUp = resolve): LookupFunction {
  const find = shareLookUps(look);
  return (host, options, callback) => {
    find(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const permitted = allowed.hasName(host)
        ? found
        : found.filter(({ address }) => isPublic(address) || allowed.hasAddress(address));
      const [first] = permitted;
      // The message doesn't name the address, because that would let clients explore the names of an internal network
      if (!first)
        return callback(new RefusedDestination("The host name has no address on the public internet."), []);
      if (options.all) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
  };
}

/**
 * Makes concurrent look-ups of the same name share one. Node runs four look-ups at a time per process, so a name whose
 * servers don't respond must not occupy more than one of them.
 */
function shareLookUps(
  look: LookUp,
): (host: string, options: LookupAllOptions, callback: LookUpCallback) => void {
  const waiting = new Map<string, LookUpCallback[]>();
  return (host, options, callback) => {
    const key = JSON.stringify([host, options]);
    const others = waiting.get(key);
    if (others) return void others.push(callback);
    const callbacks = [callback];
    waiting.set(key, callbacks);
    look(host, options, (error, found = []) => {
      waiting.delete(key);
      for (const each of callbacks) each(error, found);
    });
  };
}
