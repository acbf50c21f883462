import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A connection to the database that a test can cut. */
export interface CuttableProxy {
  /** URL of the database through the proxy. */
  url: string;
  /** Returns the number of messages that a role's connections have sent to the database. */
  countMessages(role: string): number;
  /** Cuts all connections and refuses new ones, as when Postgres stops. */
  cut(): void;
  /** Blocks both directions silently, as when a cable is pulled. */
  freeze(): void;
  /** Ends `cut` or `hold`: passes data on again, and accepts new connections. */
  restore(): void;
  /** Directs new connections to another database, and cuts existing ones. */
  redirectTo(databaseUrl: string): void;
  close(): Promise<void>;
}

/** Opens a TCP proxy in front of a database. */
export async function openCuttableProxy(databaseUrl: string): Promise<CuttableProxy> {
  let target = new URL(databaseUrl);
  /** Sockets, each with the socket that gets its data. */
  const sockets = new Map<Socket, Socket>();
  const sent = new Map<Socket, { start: string; messages: number }>();
  let isCut = false;
  let isHeld = false;
  const server = createServer((socket) => {
    if (isCut) return void socket.destroy();
    socket.on("data", (bytes: Buffer) => {
      const known = sent.get(socket);
      if (known) known.messages++;
      else sent.set(socket, { start: bytes.toString("latin1"), messages: 1 });
    });
    const upstream = connect(Number(target.port), target.hostname);
    for (const [one, other] of [[socket, upstream] as const, [upstream, socket] as const]) {
      sockets.set(one, other);
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      if (!isHeld) one.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cutAll = () => sockets.forEach((_other, socket) => socket.destroy());
  return {
    url: url.href,
    countMessages: (role) =>
      [...sent.values()].reduce(
        (sum, { start, messages }) => sum + (start.includes(`\0${role}\0`) ? messages : 0),
        0,
      ),
    cut() {
      isCut = true;
      cutAll();
    },
    freeze() {
      isHeld = true;
      sockets.forEach((other, one) => one.unpipe(other).pause());
    },
    restore() {
      isCut = false;
      if (isHeld) sockets.forEach((other, one) => one.pipe(other));
      isHeld = false;
    },
    redirectTo(newUrl) {
      target = new URL(newUrl);
      cutAll();
    },
    async close() {
      cutAll();
      server.close();
      await once(server, "close");
    },
  };
}
