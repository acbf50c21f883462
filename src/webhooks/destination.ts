import { lookup as resolve } from "node:dns";
import type { LookupAddress, LookupAllOptions } from "node:dns";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import type { AllowList } from "./addresses.ts";
import { isPublic } from "./addresses.ts";

/** A destination that nothing is sent to. The message is for whoever subscribed. */
export class RefusedDestination extends Error {
  override name = "RefusedDestination";
}

const defaultPorts: Record<string, number> = { "http:": 80, "https:": 443 };

/** The name or address in a URL, without the brackets that addresses of IPv6 have there. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

/**
 * Reads an address that webhooks are sent to. Odd spellings of IP addresses, such as `0x7f.1`, become usual ones here.
 *
 * @throws {RefusedDestination} when nothing may be sent there, as far as can be seen without asking for names
 */
export function destinationOf(text: string, allowed: AllowList): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new RefusedDestination("Webhooks are sent to https: and http: addresses only.");
  if (url.username !== "" || url.password !== "")
    throw new RefusedDestination("The address must not have a name and password in it.");
  const host = hostOf(url);
  if (allowed.hasName(host)) return url;
  if (isIP(host) && allowed.hasAddress(host)) return url;
  if (isIP(host) && !isPublic(host))
    throw new RefusedDestination("The address is none of the public internet.");
  const port = url.port === "" ? defaultPorts[url.protocol]! : Number(url.port);
  if (!allowed.ports.includes(port))
    throw new RefusedDestination(
      `Webhooks are not sent to port ${port}, only to ${allowed.ports.join(" and ")}.`,
    );
  return url;
}

type Look = typeof resolve;
type Found = (error: Error | null, found: LookupAddress[]) => void;

/**
 * Looks names up for a connection, and answers only addresses that may be connected to. The connection is made to one
 * of these very addresses, so a name that leads somewhere else the next time it is looked up gains nothing.
 *
 * @param look asks for names; by default as the machine does
 */
export function guardedLookup(allowed: AllowList, look: Look = resolve): LookupFunction {
  const find = onceAtATime(look);
  return (host, options, callback) => {
    find(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const permitted = allowed.hasName(host)
        ? found
        : found.filter(({ address }) => isPublic(address) || allowed.hasAddress(address));
      const [first] = permitted;
      // Which address it was is nobody's business: the names of an inner network could be explored so
      if (!first)
        return callback(new RefusedDestination("The name leads to no address of the public internet."), []);
      if (options.all) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
  };
}

/**
 * Whoever asks for a name that is being looked up waits for that. Node looks up four names at a time, for all of the
 * process, so one whose servers don't answer must not take more than one of these places.
 */
function onceAtATime(look: Look): (host: string, options: LookupAllOptions, callback: Found) => void {
  const waiting = new Map<string, Found[]>();
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
