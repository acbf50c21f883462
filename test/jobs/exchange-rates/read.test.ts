import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { redirectOf } from "../../../src/jobs/exchange-rates/download.ts";
import { readText } from "../../../src/jobs/exchange-rates/read.ts";
import { UserError } from "../../../src/errors/user-error.ts";
import { temporaryFolder } from "../../commands/process.ts";
import { oneDay } from "./lists.ts";

const megabyte = Buffer.alloc(1_000_000, " ");

/** Resolves when the server gets a request that it never answers. */
const asked = new EventEmitter();

/** The server's answers, by path. */
const answers: Record<string, RequestListener> = {
  "/rates.xml": (_, response) => response.end(oneDay),
  "/compressed.xml": (_, response) => response.setHeader("content-encoding", "gzip").end(gzipSync(oneDay)),
  "/missing.xml": (_, response) => response.writeHead(404).end("<h1>Not found</h1>"),
  "/nothing.xml": (_, response) => response.writeHead(204).end(),
  "/latin.xml": (_, response) => response.end(Buffer.from("Währung", "latin1")),
  "/silent.xml": () => void asked.emit("silent"),
  "/halting.xml": (_, response) => void response.write("<?xml"),
  "/broken.xml": (_, response) => {
    response.writeHead(200, { "content-length": 1_000 });
    response.write("<?xml", () => response.destroy());
  },
  "/endless.xml": (_, response) => {
    const send = () => {
      while (!response.destroyed && response.write(megabyte));
    };
    response.on("drain", send);
    send();
  },
  "/bomb.xml": (_, response) =>
    response.setHeader("content-encoding", "gzip").end(gzipSync(Buffer.alloc(50_000_000))),
  "/once.xml": (_, response) => response.writeHead(302, { location: "rates.xml" }).end(),
  "/thrice.xml": (_, response) => response.writeHead(301, { location: "/twice.xml" }).end(),
  "/twice.xml": (_, response) => response.writeHead(307, { location: `${address}/once.xml` }).end(),
  "/round.xml": (_, response) => response.writeHead(302, { location: "/round.xml" }).end(),
  "/to-file.xml": (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
  "/to-nowhere.xml": (_, response) => response.writeHead(302).end(),
  "/to-password.xml": (_, response) =>
    response.writeHead(302, { location: `http://me:hunter2@127.0.0.1/` }).end(),
};

let server: Server;
let address: string;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
before(async () => {
  folder = await temporaryFolder();
  server = createServer((request, response) => {
    answers[new URL(request.url!, "http://x").pathname]!(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(async () => {
  server.close();
  server.closeAllConnections();
  await folder.remove();
});

/** Asserts a refusal with a message for people. */
function assertRefused(work: Promise<unknown>, message: RegExp): Promise<void> {
  return assert.rejects(work, (error: Error) => {
    assert.ok(error instanceof UserError, error.stack);
    assert.match(error.message, message);
    return true;
  });
}

async function fileOf(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return path;
}

for (const path of ["/rates.xml", "/compressed.xml", "/once.xml", "/twice.xml", "/thrice.xml"]) {
  test(`${path} is downloaded`, async () => assert.equal(await readText(address + path), oneDay));
}

for (const [path, message] of Object.entries({
  "/missing.xml": /\/missing\.xml can't be downloaded: the answer was 404 Not Found\.$/,
  "/nothing.xml": /the answer was 204/,
  "/latin.xml": /is no text in UTF-8/,
  "/broken.xml": /can't be downloaded: (other side closed|terminated|aborted)/,
  "/endless.xml": /it is larger than 5 MB/,
  "/bomb.xml": /it is larger than 5 MB/,
  "/round.xml": /it was redirected more than 3 times/,
  "/to-file.xml": /only downloaded from https: and http: addresses/,
  "/to-nowhere.xml": /the answer was 302/,
  "/to-password.xml": /can't have a name and password/,
})) {
  test(`${path} is refused`, () => assertRefused(readText(address + path), message));
}

for (const path of ["/silent.xml", "/halting.xml"]) {
  test(`${path} is given up`, () =>
    assertRefused(
      readText(address + path, { limits: { timeoutMs: 400 } }),
      /it took longer than 0\.4 seconds/,
    ));
}

test("a redirection more than is allowed is refused", () =>
  assertRefused(readText(`${address}/twice.xml`, { limits: { maxRedirects: 1 } }), /more than 1 time/));

test("the parameters of an address, which may hold a secret, are not told", async () => {
  const error: Error = await readText(`${address}/missing.xml?key=hunter2`).then(
    () => assert.fail(),
    (error: unknown) => error as Error,
  );
  assert.doesNotMatch(error.message, /hunter2/);
});

for (const other of [
  "ftp://example.com/rates.xml",
  "file:///etc/passwd",
  "data://text/plain,1",
  "https://",
]) {
  test(`${other} is no address to download from`, () =>
    assertRefused(readText(other), /only downloaded from https: and http:/));
}

test("an address that doesn't answer is refused", async () => {
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const { port } = gone.address() as AddressInfo;
  gone.close();
  await once(gone, "close");
  await assertRefused(
    readText(`http://127.0.0.1:${port}/rates.xml`),
    /rates\.xml can't be downloaded: .*ECONNREFUSED/,
  );
});

test("a secure address must not lead to one that isn't", () => {
  const leading = (location: string) => new Response(null, { status: 302, headers: { location } });
  const secure = new URL("https://example.com/a/rates.xml");
  assert.equal(redirectOf(leading("../b.xml"), secure)!.href, "https://example.com/b.xml");
  assert.throws(() => redirectOf(leading("http://example.com/rates.xml"), secure), UserError);
});

test("a download is broken off when it is asked to", async () => {
  const stopping = new AbortController();
  asked.once("silent", () => stopping.abort());
  await assert.rejects(readText(`${address}/silent.xml`, { stopping: stopping.signal }), {
    name: "AbortError",
  });
});

test("a file is read", async () => {
  assert.equal(await readText(await fileOf("rates.xml", oneDay)), oneDay);
  assert.equal(await readText(await fileOf("mark.xml", `\uFEFF${oneDay}`)), oneDay);
});

test("a file that isn't there, is no file, no text or too large is refused", async () => {
  await assertRefused(readText(join(folder.path, "none.xml")), /there is no such file/);
  await mkdir(join(folder.path, "directory"));
  await assertRefused(readText(join(folder.path, "directory")), /directory can't be read: it is no file/);
  await assertRefused(readText("/dev/zero"), /it is no file/);
  await assertRefused(readText(await fileOf("latin.xml", Buffer.from("ä", "latin1"))), /no text in UTF-8/);
  const large = await fileOf("large.xml", Buffer.alloc(5_000_001, " "));
  await assertRefused(readText(large), /is larger than 5 MB/);
});
