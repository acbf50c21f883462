import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { request } from "undici";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startService();
  await service.owner.query(
    `insert into erp.country (iso_code, name)
     select chr(65 + n / 26) || chr(65 + n % 26), jsonb_build_object('en-GB', 'Ländchen ' || n) from generate_series(0, 249) n`,
  );
  token = await service.token();
});
after(() => service.close());

const ways: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};
const long = "{ countrys(first: 250) { edges { node { id name } } } }";

/** Asks without what `fetch` does by itself. */
async function ask(query: string, accepted?: string, url = service.url) {
  const { headers, body } = await request(`${url}/api/graphql/unstable`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${token}`,
      ...(accepted !== undefined && { "accept-encoding": accepted }),
    },
    body: JSON.stringify({ query }),
  });
  const bytes = Buffer.from(await body.arrayBuffer());
  const encoding = headers["content-encoding"] as string | undefined;
  assert.match(String(headers.vary), /Accept-Encoding/);
  assert.equal(Number(headers["content-length"]), bytes.length);
  return { encoding, length: bytes.length, text: (encoding ? ways[encoding]!(bytes) : bytes).toString() };
}

test("long answers are compressed in the way that the client prefers", async () => {
  const plain = await ask(long);
  assert.equal(plain.encoding, undefined);
  for (const [accepted, expected] of [
    ["gzip", "gzip"],
    ["gzip, deflate", "gzip"],
    ["gzip, deflate, br", "br"],
    // Clients that list zstd among others don't always have it: `@whatwg-node/fetch` on Node 20
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, zstd", "gzip"],
    ["br;q=0.9, gzip;q=0.9, zstd", "zstd"],
    ["zstd", "zstd"],
    ["GZIP;q=1.0, br;q=0.5", "gzip"],
    ["zstd;q=0, *", "br"],
    ["*", "br"],
  ] as const) {
    const { encoding, length, text } = await ask(long, accepted);
    assert.equal(encoding, expected, accepted);
    assert.equal(text, plain.text);
    assert.ok(length < plain.length / 2, `${length} of ${plain.length}`);
  }
});

test("answers that Grafast makes are compressed as well", async () => {
  const { url } = await service.another({ settings: { fastReads: false } });
  const plain = await ask(long, undefined, url);
  assert.equal(plain.encoding, undefined);
  for (const accepted of ["gzip", "br", "zstd"]) {
    const { encoding, length, text } = await ask(long, accepted, url);
    assert.deepEqual([encoding, text], [accepted, plain.text]);
    assert.ok(length < plain.length / 2, `${length} of ${plain.length}`);
  }
  const short = await ask("{ countrys(first: 1) { edges { node { id } } } }", "gzip", url);
  assert.equal(short.encoding, undefined);
});

test("introspection and the schema file are compressed, too", async () => {
  const introspection = "{ __schema { types { name description fields { name description } } } }";
  const { encoding, text } = await ask(introspection, "zstd");
  assert.deepEqual([encoding, text], ["zstd", (await ask(introspection)).text]);
  const { headers, body } = await request(`${service.url}/api/graphql/unstable/schema.graphql`, {
    headers: { "accept-encoding": "br" },
  });
  assert.equal(headers["content-encoding"], "br");
  assert.match(brotliDecompressSync(Buffer.from(await body.arrayBuffer())).toString(), /^type Query/m);
});

test("short answers are not, and none for a client that doesn't ask for it", async () => {
  assert.equal(
    (await ask("{ countrys(first: 1) { edges { node { id } } } }", "gzip, br, zstd")).encoding,
    undefined,
  );
  for (const accepted of ["", "identity", "gzip;q=0", "compress, deflate", "*;q=0", ";;,"])
    assert.equal((await ask(long, accepted)).encoding, undefined, accepted);
});

test("many at once are all answered", async () => {
  const plain = await ask(long);
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(long, "gzip")));
  for (const { text } of answers) assert.equal(text, plain.text);
});
