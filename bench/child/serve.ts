import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The resource usage that a measured process reports on request. */
export interface ProcessUsage {
  /** Processor time so far, in microseconds. */
  cpu: number;
  /** Resident memory, in bytes. */
  memory: number;
}

/** Starts a server on a free port, in a process that can be measured. */
export async function serveMeasured(server: Server, token?: string): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, token);
}

/**
 * Reports the URL to the measuring process, answers its requests for usage, and ends with it.
 *
 * @param token an access token, if this server doesn't accept the service's tokens
 */
export function announce(url: string, token?: string): void {
  process.on("disconnect", () => process.exit());
  // The terminal sends Ctrl-C to all processes: the measuring process ends the others in its own order
  process.on("SIGINT", () => {});
  process.on("message", () => process.send!(usage()));
  process.send!({ url, token });
}

function usage(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return { cpu: user + system, memory: process.memoryUsage.rss() };
}
