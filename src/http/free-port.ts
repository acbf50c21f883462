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

/** @throws {UserError} when nobody can listen there now, with what to do about it */
export async function requireFreePort(address: Address): Promise<void> {
  const server = createServer().listen(address.port, address.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw cantListen(address, cause);
  }
  server.close();
  await once(server, "close");
}

/** Why an address can't be listened on, in words for the operator. */
export function cantListen({ host, port, name = "PORT" }: Address, cause: unknown): UserError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    EADDRINUSE: `another program uses it. Set ${name} to another one`,
    EACCES: `only root may use that port. Set ${name} to one from 1024 on, behind a proxy, or start as root, which the service gives up then`,
    EADDRNOTAVAIL:
      "this machine doesn't have that address. Set HOST to one that it has, or to 0.0.0.0 for all",
    ENOTFOUND: "nobody knows that name. Set HOST to an address of this machine",
  };
  const reason = reasons[code ?? ""] ?? message;
  return new UserError(`Can't listen on ${host}:${port}: ${reason}.`, { cause });
}
