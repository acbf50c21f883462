import { once } from "node:events";
import { createServer } from "node:net";
import { UserError } from "../errors/user-error.ts";

/** An address to listen on. */
export interface Address {
  host: string;
  port: number;
  /** The setting that names the port. */
  name?: string;
}

/** @throws {UserError} when the address can't be listened on, with a remedy */
export async function requireFreePort(address: Address): Promise<void> {
  const server = createServer().listen(address.port, address.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw explainListenError(address, cause);
  }
  server.close();
  await once(server, "close");
}

/** Explains to the operator why an address can't be listened on. */
export function explainListenError({ host, port, name = "PORT" }: Address, cause: unknown): UserError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE: `another program uses it. Set ${name} to another port`,
    EACCES: `only root may use that port. Set ${name} to a port from 1024 and use a proxy, or start as root: the service then switches to another user`,
    EADDRNOTAVAIL:
      "this machine doesn't have that address. Set HOST to one of its addresses, or to 0.0.0.0 for all",
    ENOTFOUND: "the name is unknown. Set HOST to an address of this machine",
  };
  const reason = reasons[code ?? ""] ?? message;
  return new UserError(`Can't listen on ${host}:${port}: ${reason}.`, { cause });
}
