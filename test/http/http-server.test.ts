import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import type { RequestListener } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { HttpServer } from "../../src/http/http-server.ts";
import { until } from "../lib/until.ts";

/** Answers after some milliseconds, given in the address. */
async function startServer(): Promise<HttpServer & { url: string; requests: string[] }> {
  const requests: string[] = [];
  const listener: RequestListener = (incoming, response) => {
    requests.push(incoming.url!);
    const ms = Number(incoming.url!.slice(1));
    incoming.resume();
    if (ms === 0) response.end("done");
    else setTimeout(() => response.end("done"), ms).unref();
  };
  const server = new HttpServer(createServer(listener));
  await server.listen({ host: "127.0.0.1", port: 0 });
  return Object.assign(server, { url: `http://127.0.0.1:${server.port}`, requests });
}

/** Sends a request with a body. Returns whether the connection stays open. */
function post(url: string, agent: Agent): Promise<"stays" | "closes"> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent }, (response) => {
      response.resume().on("error", reject);
      response.on("end", () => resolve(response.headers.connection === "close" ? "closes" : "stays"));
    });
    sent.on("error", reject).end("{}");
  });
}

test("stopped under load, it answers all that was sent, and says that it closes", async () => {
  for (let round = 0; round < 3; round++) {
    const server = await startServer();
    let answers = 0;
    const client = async (ms: number) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (;;) {
        const connection = await post(`${server.url}/${ms}`, agent);
        answers++;
        if (connection === "closes") break;
      }
      await assert.rejects(post(server.url, agent), { code: "ECONNREFUSED" });
      agent.destroy();
    };
    // Some clients pause, some don't; each gets a last answer that closes its connection, and never a reset
    const clients = Promise.all([0, 0, 0, 0, 0, 1, 7, 300].map(client));
    await until(() => answers > 200);
    const begin = performance.now();
    await Promise.all([server.stop(begin + 60_000), clients]);
    assert.ok(performance.now() - begin < 30_000);
  }
});

test("a connection without a request has a second for one, then it is closed", async () => {
  const server = await startServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const used = connect(server.port, "127.0.0.1");
  const unused = connect(server.port, "127.0.0.1");
  unused.resume();
  await Promise.all([once(used, "connect"), once(unused, "connect")]);
  await post(`${server.url}/0`, agent); // By then both have been accepted
  const begin = performance.now();
  const stopped = server.stop(begin + 60_000);
  await until(async () => (await post(`${server.url}/0`, agent)) === "closes");
  used.write("POST /0 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  const [answer] = (await once(used, "data")) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 200 OK\r\n[^]*connection: close/i);
  await once(unused, "close");
  const waited = performance.now() - begin;
  assert.ok(waited > 1_000 && waited < 30_000, `${waited}`);
  await stopped;
  agent.destroy();
});

test("what takes too long is told so a second before the end, and then cut", async () => {
  const server = await startServer();
  const agent = new Agent({ keepAlive: true });
  const answers = [post(`${server.url}/500`, agent), post(`${server.url}/60000`, agent)];
  const [quick, slow] = await Promise.all([
    ...answers.map((answer) => answer.catch((error: NodeJS.ErrnoException) => error.code)),
    (async () => {
      await until(() => server.requests.length === 2);
      const begin = performance.now();
      let lateAfter = 0;
      await server.stop(begin + 1_800, () => (lateAfter = performance.now() - begin));
      const endAfter = performance.now() - begin;
      assert.ok(lateAfter >= 790 && lateAfter < endAfter && endAfter < 30_000, `${lateAfter} ${endAfter}`);
    })(),
  ]);
  assert.deepEqual([quick, slow], ["closes", "ECONNRESET"]);
  agent.destroy();
});
