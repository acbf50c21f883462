import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Returns the network that counts as one client: with IPv6, a client has at least 2^64 addresses. */
export function clientNetwork(address: string): string {
  if (!isIP(address)) return address;
  // IPv4 addresses may be written as IPv6
  const parsed = ipaddr.process(address);
  if (parsed.kind() === "ipv4") return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/64`).toString()}/64`;
}
