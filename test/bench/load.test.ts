import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { PreparedRequest } from "../../bench/measure/load.ts";
import { load } from "../../bench/measure/load.ts";

// A server that echoes, and counts requests at the same time
let atOnce = 0;
let maxAtOnce = 0;
const paths: string[] = [];
const server = createServer((request, response) => {
  maxAtOnce = Math.max(maxAtOnce, ++atOnce);
  paths.push(request.url!);
  // Delayed, so that requests overlap
  setTimeout(() => {
    atOnce--;
    if (request.url === "/cut") return response.destroy();
    request.pipe(response);
  }, 2);
});
let url: string;
before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

const echo = (path: string, expected = path): PreparedRequest => ({
  path,
  body: path,
  isRight: (status, body) => status === 200 && body.toString() === expected,
});

describe("the load", () => {
  it("holds as many connections as it is told, and no more", async () => {
    maxAtOnce = 0;
    const { requests, failures } = await load({
      url,
      token: "t",
      connections: 8,
      requests: [echo("/a")],
      count: 80,
    });
    assert.deepEqual([requests, failures, maxAtOnce], [80, 0, 8]);
  });

  it("sends each of a number of requests once, in their order", async () => {
    paths.length = 0;
    const asked = Array.from({ length: 20 }, (_, index) => echo(`/${index}`));
    await load({ url, token: "t", connections: 1, requests: asked, count: 20 });
    assert.deepEqual(
      paths,
      asked.map(({ path }) => path),
    );
  });

  it("counts wrong answers, and those that do not come", async () => {
    const requests = [echo("/a"), echo("/b", "something else"), echo("/cut")];
    const result = await load({ url, token: "t", connections: 2, requests, count: 30 });
    assert.deepEqual([result.requests, result.failures, result.latencies.length], [30, 20, 30]);
  });

  it("gets what it has no body for", async () => {
    const request = {
      path: "/get",
      isRight: (status: number, body: Buffer) => status === 200 && !body.length,
    };
    const { failures } = await load({ url, connections: 1, requests: [request], count: 2 });
    assert.equal(failures, 0);
  });

  it("continues for a time, and waits for running requests", async () => {
    const result = await load({ url, token: "t", connections: 4, requests: [echo("/a")], seconds: 0.1 });
    assert.ok(result.seconds >= 0.1);
    assert.ok(result.requests > 0);
    assert.deepEqual([result.failures, atOnce], [0, 0]);
  });
});
