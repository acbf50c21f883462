import assert from "node:assert/strict";
import { once } from "node:events";
import type { LookupAddress } from "node:dns";
import http from "node:http";
import type { RequestListener, Server } from "node:http";
import https from "node:https";
import { createServer as createTcpServer } from "node:net";
import type { AddressInfo, Server as TcpServer, Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { AllowList } from "../../src/webhooks/addresses.ts";
import { guardedLookup } from "../../src/webhooks/destination.ts";
import { WebhookClient } from "../../src/webhooks/webhook-client.ts";
import type { WebhookClientOptions } from "../../src/webhooks/webhook-client.ts";
import { until } from "../lib/until.ts";
import { certificate, expiredCertificate, key } from "./certificates.ts";

const machine = new AllowList(["127.0.0.1"]);
const names = new AllowList(["receiver.test", "other.test"]);
const megabyte = Buffer.alloc(1_000_000, "x");

/** A look-up that returns one answer after another, and then the last again and again. */
function leadingTo(...answers: string[]) {
  let asked = 0;
  const look = (_: string, __: unknown, callback: (error: null, found: LookupAddress[]) => void) => {
    const address = answers[Math.min(asked++, answers.length - 1)]!;
    callback(null, [{ address, family: 4 }]);
  };
  return { look: look as never, times: () => asked };
}

/** Behaviours of receivers, by path. */
const answers: Record<string, RequestListener> = {
  "/hook": (request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const { method, headers } = request;
      response.setHeader("x-receiver", "me").writeHead(200);
      response.end(JSON.stringify({ method, headers, body: Buffer.concat(parts).toString() }));
    });
  },
  "/204": (_, response) => response.writeHead(204).end(),
  "/moved": (_, response) => response.writeHead(302, { location: "/hook" }).end(),
  "/moved-inside": (_, response) => response.writeHead(307, { location: "http://169.254.169.254/" }).end(),
  "/busy": (_, response) => response.writeHead(503, { "retry-after": "120" }).end("busy"),
  "/silent": () => {},
  "/early-hints": (_, response) => {
    const timer = setInterval(() => response.writeEarlyHints({ link: "</a>; rel=preload" }), 20);
    response.on("close", () => clearInterval(timer));
  },
  "/dripping-body": (_, response) => {
    response.writeHead(200).write("a");
    const timer = setInterval(() => response.write("a"), 20);
    response.on("close", () => clearInterval(timer));
  },
  "/half": (_, response) => {
    response.writeHead(200, { "content-length": 100 }).write("half");
    setImmediate(() => response.destroy());
  },
  "/endless": (_, response) => {
    const send = () => {
      while (!response.destroyed && response.write(megabyte));
    };
    response.on("drain", send);
    response.writeHead(500);
    send();
  },
  "/gone-away": (request) => request.socket.destroy(),
  "/unicode": (_, response) => response.end(`\0${"🧰".repeat(2_000)}`),
};

const listener: RequestListener = (request, response) => answers[request.url!]!(request, response);
const connections = new Set<Socket>();

async function listen<T extends Server | TcpServer>(server: T): Promise<T> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
const portOf = (server: Server | TcpServer) => (server.address() as AddressInfo).port;

let server: Server;
let dripping: TcpServer;
let secure: Server;
let expired: Server;
before(async () => {
  server = await listen(http.createServer(listener));
  server.on("connection", (socket) => connections.add(socket.on("error", () => {})));
  secure = await listen(https.createServer({ key, cert: certificate }, listener));
  expired = await listen(https.createServer({ key, cert: expiredCertificate }, listener));
  // A head that comes byte by byte and never ends, one that is no HTTP, one that is too long
  dripping = await listen(
    createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (request) => {
        const [, path] = request.toString().split(" ");
        if (path === "/no-http") return void socket.end("SSH-2.0-OpenSSH_9.9\r\n");
        if (path === "/long-head") return void socket.write(`HTTP/1.1 200 OK\r\nx: ${megabyte}`);
        socket.write("HTTP/1.1 200 OK\r\nx-drip: ");
        const timer = setInterval(() => socket.write("a"), 10);
        socket.on("close", () => clearInterval(timer));
      });
    }),
  );
});
after(() => {
  for (const each of [server, secure, expired]) {
    each.close();
    each.closeAllConnections();
  }
  dripping.close();
});

/** Sends to a receiver by a separate client. */
async function post(url: string, options: Partial<WebhookClientOptions> = {}, body = "{}") {
  const client = new WebhookClient({ allowed: machine, ...options });
  try {
    return await client.post(url, { "content-type": "application/json", "webhook-id": "1" }, body);
  } finally {
    client.close();
  }
}
const at = (path: string, of: Server | TcpServer = server) => `http://127.0.0.1:${portOf(of)}${path}`;

describe("sending", () => {
  it("brings body and headers, and the beginning of the answer", async () => {
    const { status, headers, body } = await post(at("/hook"), {}, '{"name":"Höhenweg"}');
    assert.equal(status, 200);
    assert.equal(headers["x-receiver"], "me");
    const got = JSON.parse(body);
    assert.deepEqual([got.method, got.body], ["POST", '{"name":"Höhenweg"}']);
    assert.equal(got.headers["webhook-id"], "1");
    assert.equal(got.headers["content-length"], "20");
  });

  it("keeps the connection for the next message", async () => {
    const client = new WebhookClient({ allowed: machine });
    connections.clear();
    for (let n = 0; n < 3; n++) await client.post(at("/204"), {}, "{}");
    client.close();
    assert.equal(connections.size, 1);
  });

  it("opens a new one when the other side has closed it meanwhile", async () => {
    const client = new WebhookClient({ allowed: machine });
    connections.clear();
    for (let n = 0; n < 5; n++) {
      assert.equal((await client.post(at("/204"), {}, "{}")).status, 204);
      for (const socket of connections) socket.destroy();
    }
    client.close();
    assert.equal(connections.size, 5);
  });

  it("gives at most 1,000 characters of the answer, and none that Postgres can't keep", async () => {
    assert.equal((await post(at("/unicode"))).body, "🧰".repeat(1_000));
  });

  it("doesn't follow redirections", async () => {
    assert.equal((await post(at("/moved"))).status, 302);
    assert.equal((await post(at("/moved-inside"))).status, 307);
  });

  it("gives the pause that a receiver asks for", async () => {
    const { status, headers } = await post(at("/busy"));
    assert.deepEqual([status, headers["retry-after"]], [503, "120"]);
  });
});

describe("receivers that don't answer as they should", () => {
  for (const path of ["/silent", "/early-hints"]) {
    it(`${path}: it gives up`, () =>
      assert.rejects(post(at(path), { timeoutMs: 150 }), {
        name: "NoAnswer",
        message: "There was no response within 0.15 seconds.",
      }));
  }
  it("a head that comes byte by byte: it gives up", () =>
    assert.rejects(post(at("/", dripping), { timeoutMs: 150 }), /no response within 0\.15 seconds/));
  it("an upload that isn't read: it gives up", async () => {
    const deaf = await listen(createTcpServer((socket) => void socket.on("error", () => {}).pause()));
    await assert.rejects(
      post(at("/", deaf), { timeoutMs: 150 }, "x".repeat(20_000_000)),
      /no response within/,
    );
    deaf.close();
  });
  it("a head that is too long: it gives up", () =>
    assert.rejects(post(at("/long-head", dripping)), {
      name: "NoAnswer",
      message: "The response was not HTTP.",
    }));
  it("no HTTP: it says so", () =>
    assert.rejects(post(at("/no-http", dripping)), {
      name: "NoAnswer",
      message: "The response was not HTTP.",
    }));
  it("a closed connection: it says so", () =>
    assert.rejects(post(at("/gone-away")), /The connection was closed before a response came\./));
  it("a closed port: it says so", async () => {
    const closed = await listen(createTcpServer());
    const url = at("/", closed);
    closed.close();
    await assert.rejects(post(url), /The connection was refused\./);
  });

  it("a body that comes byte by byte: the status counts, and the rest isn't waited for", async () => {
    const { status, body } = await post(at("/dripping-body"), { bodyTimeoutMs: 100, timeoutMs: 60_000 });
    assert.equal(status, 200);
    assert.match(body, /^a+$/);
  });
  it("a body that breaks off: the status counts", async () => {
    assert.deepEqual(await post(at("/half")).then(({ status, body }) => [status, body]), [200, "half"]);
  });
  it("a body without an end: only its beginning is read", async () => {
    connections.clear();
    const { status, body } = await post(at("/endless"));
    assert.deepEqual([status, body], [500, "x".repeat(1_000)]);
    const [socket] = connections;
    await until(() => socket!.closed);
    assert.ok(socket!.bytesWritten < 50_000_000, `${socket!.bytesWritten}`);
  });
});

describe("destinations inside", () => {
  it("are refused before anything is connected", async () => {
    connections.clear();
    await assert.rejects(post(at("/hook"), { allowed: new AllowList([]) }), { name: "RefusedDestination" });
    assert.equal(connections.size, 0);
  });

  it("are refused when a name leads there", async () => {
    connections.clear();
    const allowed = new AllowList([], [portOf(server)]);
    const lookup = guardedLookup(allowed, leadingTo("127.0.0.1").look);
    const url = `http://receiver.test:${portOf(server)}/hook`;
    await assert.rejects(post(url, { allowed, lookup }), {
      name: "RefusedDestination",
      message: "The host name has no address on the public internet.",
    });
    assert.equal(connections.size, 0);
  });

  it("are refused when the name led somewhere else before", async () => {
    connections.clear();
    // 127.0.0.1 stands for a public address here, 127.0.0.2 for an internal one. Code that looks the name up before
    // connecting would check the first, and connect to the second.
    const { look, times } = leadingTo("127.0.0.1", "127.0.0.2");
    const allowed = new AllowList(["127.0.0.1"], [portOf(server)]);
    const client = new WebhookClient({ allowed, lookup: guardedLookup(allowed, look) });
    const url = `http://receiver.test:${portOf(server)}/hook`;
    assert.equal((await client.post(url, { connection: "close" }, "{}")).status, 200);
    assert.equal(times(), 1);
    await assert.rejects(client.post(url, {}, "{}"), { name: "RefusedDestination" });
    assert.equal(connections.size, 1);
    client.close();
  });

  it("are reached by an allowed name", async () => {
    const lookup = guardedLookup(names, leadingTo("127.0.0.1").look);
    const url = `http://receiver.test:${portOf(server)}/204`;
    assert.equal((await post(url, { allowed: names, lookup })).status, 204);
  });
});

describe("TLS", () => {
  const lookup = guardedLookup(names, leadingTo("127.0.0.1").look);
  const url = (name: string, of: Server) => `https://${name}:${portOf(of)}/204`;

  it("is checked against the name", async () => {
    const options = { allowed: names, lookup, ca: certificate };
    assert.equal((await post(url("receiver.test", secure), options)).status, 204);
    await assert.rejects(post(url("other.test", secure), options), /The certificate is for another name\./);
  });
  it("needs a known authority", () =>
    assert.rejects(
      post(url("receiver.test", secure), { allowed: names, lookup }),
      /The certificate is self-signed\./,
    ));
  it("needs a certificate that is valid by now", () =>
    assert.rejects(
      post(url("receiver.test", expired), { allowed: names, lookup, ca: expiredCertificate }),
      /The certificate has expired\./,
    ));
  it("isn't taken for HTTP, nor the other way round", async () => {
    await assert.rejects(
      post(url("receiver.test", server), { allowed: names, lookup }),
      /No secure connection/,
    );
    await assert.rejects(
      post(url("receiver.test", secure).replace("https", "http"), { allowed: names, lookup }),
      /The connection was closed|not HTTP/,
    );
  });
});
