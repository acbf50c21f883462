import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The network by which an owner of addresses is counted: with IPv6 an owner has at least 2^64 of them. */
export function networkOf(address: string): string {
  if (!isIP(address)) return address;
  // IPv4 addresses may be written as IPv6
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`).toString()}/64`;
}
