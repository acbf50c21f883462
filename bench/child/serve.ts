import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** What the measured process says of itself when it is asked. */
export interface ProcessUsage {
  /** Processor time that it has used so far, in microseconds. */
  cpu: number;
  /** Resident memory, in bytes. */
  memory: number;
}

/** Lets a server listen on a free port, and makes its process one that can be measured. */
export async function serveMeasured(server: Server): Promise<void> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Tells the process that measures where to ask; answers what it uses; and ends when the other one has ended. */
export function announce(url: string): void {
  process.on("disconnect", () => process.exit());
  // Ctrl-C reaches all processes of the terminal: the one that measures ends the others in its own order
  process.on("SIGINT", () => {});
  process.on("message", () => process.send!(usage()));
  process.send!({ url });
}

function usage(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return { cpu: user + system, memory: process.memoryUsage.rss() };
}
