import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** What addresses of the same owner have in common: an owner of one of IPv6 has at least 2^64 of them. */
export function networkOf(address: string): string {
  if (!isIP(address)) return address;
  // An address of IPv4 may be written as one of IPv6
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`).toString()}/64`;
}
