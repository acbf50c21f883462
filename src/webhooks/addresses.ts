import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

// Where IANA has given out addresses for the public internet. Whatever lies outside, such as addresses that carry one
// of IPv4 within them for translation, is none of it, also what the library doesn't know by name.
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** An address like any other, but in Azure it leads to the host of the virtual machine, which tells it secrets. */
const azureHost = "168.63.129.16";

/**
 * Whether an IP address belongs to the public internet. Private networks, this machine, link-local addresses (among
 * them those where clouds keep the credentials of a machine), shared, reserved and multicast ones don't.
 */
export function isPublic(address: string): boolean {
  if (!isIP(address)) return false;
  // An address of IPv4 that is written as one of IPv6 leads where that of IPv4 leads
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast" || parsed.toString() === azureHost) return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
}

/** Ports of the public internet that messages are sent to, unless an operator says otherwise. */
export const defaultWebhookPorts: readonly number[] = [443, 80];

/** Which destinations an operator allows: beside those of the public internet, and which ports of that. */
export class AllowList {
  /** Ports of destinations that are not on the list; those that are may have any. */
  readonly ports: readonly number[];
  readonly #names = new Set<string>();
  readonly #ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];

  /**
   * @param entries names of hosts, addresses, and ranges of addresses such as `10.1.0.0/16`
   * @throws {TypeError} when one is none of these
   */
  constructor(entries: readonly string[], ports = defaultWebhookPorts) {
    this.ports = ports;
    for (const entry of entries) {
      if (isIP(entry.split("/")[0]!) && ipaddr.isValidCIDR(entry)) this.#ranges.push(ipaddr.parseCIDR(entry));
      else if (isIP(entry)) this.#ranges.push(single(ipaddr.process(entry)));
      else if (hostName.test(entry)) this.#names.add(entry.toLowerCase());
      else throw new TypeError(`“${entry}” is no host name, no address and no range of addresses.`);
    }
  }

  /** Whether this host is allowed wherever its name leads. */
  hasName(host: string): boolean {
    return this.#names.has(host.toLowerCase());
  }

  hasAddress(address: string): boolean {
    if (!isIP(address)) return false;
    const parsed = ipaddr.process(address);
    return this.#ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits));
  }
}

const hostName =
  /^(?=.{1,253}$)(?!.*\.[0-9]+$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;

function single(address: ipaddr.IPv4 | ipaddr.IPv6): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
