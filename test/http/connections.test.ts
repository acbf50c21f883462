import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import type { RequestListener, Server, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, it, test } from "node:test";
import { createBoundedServer } from "../../src/http/bounded-server.ts";
import { allowLongBody } from "../../src/http/open-connections.ts";
import { until } from "../lib/until.ts";

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.close();
  server?.closeAllConnections();
});

async function start(max: number, listener: RequestListener, times = {}): Promise<number> {
  server = createBoundedServer(listener, max, times).listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function open(port: number, text = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  sockets.push(socket);
  await once(socket, "connect");
  socket.write(text);
  socket.resume();
  return socket;
}

/** Sends a request as a new client. */
function ask(port: number, agent = new Agent(), path = "/"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: "127.0.0.1", method: "POST", path, agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode!));
    });
    sent.on("error", reject).end("{}");
  });
}

const answer: RequestListener = (incoming, response) => {
  incoming.resume().on("end", () => response.end("done"));
};

test("a connection stays open for longer than load balancers keep theirs", async () => {
  const port = await start(10, answer);
  const { headers } = await fetch(`http://127.0.0.1:${port}`);
  const [, seconds] = /timeout=(\d+)/.exec(headers.get("keep-alive")!)!;
  assert.ok(Number(seconds) > 60 && Number(seconds) < 90);
});

test("a body that doesn't arrive in time ends its connection, but for an upload", async () => {
  const begun: string[] = [];
  const end: (() => void)[] = [];
  const listener: RequestListener = (incoming, response) => {
    begun.push(incoming.url!);
    if (incoming.url === "/upload") end.push(allowLongBody(incoming));
    if (incoming.url === "/refused") response.end("no");
    incoming.resume();
  };
  const port = await start(10, listener, { requestTimeoutMs: 50, checkMs: 20 });
  const send = async (path: string) => {
    const socket = await open(port, `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{`);
    let text = "";
    socket.on("data", (part) => (text += part.toString()));
    return { socket, closed: once(socket, "close").then(() => text) };
  };
  const upload = await send("/upload");
  await until(() => begun.length === 1);
  const late = await send("/late");
  assert.match(await late.closed, /^HTTP\/1.1 408 /);
  const refused = await send("/refused");
  assert.match(await refused.closed, /^HTTP\/1.1 200 /);
  assert.equal(upload.socket.closed, false);
  end[0]!();
  assert.match(await upload.closed, /^HTTP\/1.1 408 /);
});

describe("more connections than there may be", () => {
  it("shut no one out, when they send no requests", async () => {
    const port = await start(10, answer);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let n = 0; n < 40; n++) {
      await open(port, n % 2 ? "POST / HTTP/1.1\r\nHost: a\r\nX-" : "");
      assert.equal(await ask(port), 200);
      assert.equal(await ask(port, agent), 200);
    }
    agent.destroy();
  });

  it("shut no one out, when bodies arrive slowly", async () => {
    const port = await start(10, answer);
    for (let n = 0; n < 40; n++) {
      await open(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{");
      assert.equal(await ask(port), 200);
    }
  });

  it("cut off no running request", async () => {
    const working: ServerResponse[] = [];
    const port = await start(3, (incoming, response) => {
      if (incoming.url === "/slow") working.push(response);
      incoming.resume();
      if (incoming.url !== "/slow") response.end("done");
    });
    const slow = [1, 2, 3].map(() => ask(port, new Agent(), "/slow"));
    await until(() => working.length === 3);
    // No connection is idle
    await assert.rejects(ask(port), { code: "ECONNRESET" });
    for (const response of working) response.end("done");
    assert.deepEqual(await Promise.all(slow), [200, 200, 200]);
    assert.equal(await ask(port), 200);
  });
});

describe("requests that are sent at once on one connection", () => {
  it("are done one after the other, and answered in their order", async () => {
    const begun: string[] = [];
    let most = 0;
    let now = 0;
    const port = await start(10, (incoming, response) => {
      begun.push(incoming.url!);
      most = Math.max(most, ++now);
      incoming.resume().on("end", () =>
        setImmediate(() => {
          now--;
          response.end(`answer ${incoming.url}`);
        }),
      );
    });
    const socket = await open(port);
    let text = "";
    socket.on("data", (part) => (text += part.toString()));
    const paths = Array.from({ length: 20 }, (_, n) => `/${n}`);
    socket.write(
      paths.map((path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`).join(""),
    );
    await until(() => text.includes("answer /19"));
    assert.deepEqual(begun, paths);
    assert.deepEqual(
      text.match(/answer \S+?(?=HTTP|$)/g)?.map((each) => each.slice(7)),
      paths,
    );
    assert.equal(most, 1);
  });

  it("end it when there are too many", async () => {
    let begun = 0;
    const port = await start(10, () => begun++);
    const socket = await open(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n".repeat(100));
    await once(socket, "close");
    assert.equal(begun, 1);
  });
});

test("a process that may open few files has as many connections as these allow, says so, and answers others", async (t) => {
  const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const code = `import { boundedByFiles } from ${source("process/listen.ts")};
    const log = { warn: (details, text) => console.log(text) };
    const server = await boundedByFiles((request, response) => response.end("well"), { maxConnections: 1_000 }, log);
    server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));`;
  const words = ["-c", 'ulimit -n 400; exec "$0" --input-type=module --eval "$1"', process.execPath, code];
  const child = spawn("bash", words, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  await until(() => /port \d+\n/.test(said));
  const port = Number(/port (\d+)/.exec(said)![1]);
  assert.match(said, /may open 400 files, too few for LIMIT_CONNECTIONS=1000\. Raise the limit/);
  await Promise.all(Array.from({ length: 600 }, () => open(port)));
  for (let n = 0; n < 5; n++) assert.equal(await ask(port), 200);
});
