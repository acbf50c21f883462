import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

// The part of IPv6 that IANA has assigned to the public internet. Everything else is not public, such as addresses that
// embed an IPv4 address for translation, even if the library doesn't recognise them.
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** An address that looks public, but in Azure it is the virtual machine's host, which reveals secrets. */
const azureHost = "168.63.129.16";

/**
 * Whether an IP address belongs to the public internet. Private networks, this machine, link-local addresses (where
 * clouds serve a machine's credentials), shared, reserved and multicast ones don't.
 */
export function isPublic(address: string): boolean {
  if (!isIP(address)) return false;
  // An IPv4 address written as IPv6 leads to the IPv4 address
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast" || parsed.toString() === azureHost) return false;
  return parsed.kind() === "ipv4" || parsed.match(globalUnicast);
}

/** Ports of the public internet that webhooks may use by default. */
export const defaultWebhookPorts: readonly number[] = [443, 80];

/** Destinations that an operator allows in addition to the public internet, and the allowed ports of the latter. */
export class AllowList {
  /** Allowed ports of destinations that are not on the list. Destinations on the list may have any port. */
  readonly ports: readonly number[];
  readonly #names = new Set<string>();
  readonly #ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];

  /**
   * @param entries host names, addresses, and ranges of addresses such as `10.1.0.0/16`
   * @throws {TypeError} if an entry is none of these
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

  /** Whether this host name is allowed, whatever its addresses are. */
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
