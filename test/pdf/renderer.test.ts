import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { TestContext } from "node:test";
import { isApiError } from "../../src/errors/api-error.ts";
import { Renderer } from "../../src/pdf/renderer.ts";
import type { RendererOptions } from "../../src/pdf/renderer.ts";
import { readPdf } from "./pdf.ts";
import type { Endless } from "./puppet.ts";
import { longConfig, sampleConfig } from "./sample.ts";

const renderers: Renderer[] = [];
after(() => Promise.all(renderers.map((renderer) => renderer.close())));

function renderer(options: RendererOptions = {}): Renderer {
  const made = new Renderer(options);
  renderers.push(made);
  return made;
}
const rendering = (options?: RendererOptions) => {
  const made = renderer(options);
  return (config: unknown) => made.render(config);
};

/** A module that does what its config says. */
const puppet = new URL("./puppet.ts", import.meta.url);
const endless = (how: Endless["how"] = "wait") => ({ how, begun: new Int32Array(new SharedArrayBuffer(4)) });
/** Returns what ends the time of the next document: a real limit would depend on the load of the machine. */
function expiring(t: TestContext): () => void {
  const limit = new AbortController();
  t.mock.method(AbortSignal, "timeout", () => limit.signal, { times: 1 });
  return () => limit.abort();
}
const text = (pdf: Uint8Array) => new TextDecoder().decode(pdf);

const render = rendering();

test("while a long document is rendered, other work continues", async () => {
  await render(sampleConfig());
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  const pdf = await render(longConfig(500));
  clearInterval(timer);
  assert.ok(turns > 10, `${turns} turns`);
  const { pages } = await readPdf(pdf);
  assert.ok(pages.join(" ").includes("500 Thing 500"));
});

test("many documents at once are all rendered, each for who asked", async () => {
  const numbers = Array.from({ length: 12 }, (_, i) => `INV-${i}`);
  const pdfs = await Promise.all(numbers.map((documentNumber) => render(sampleConfig({ documentNumber }))));
  for (const [i, pdf] of pdfs.entries()) assert.equal((await readPdf(pdf)).title, `Invoice INV-${i}`);
});

test("an error names the fault in the config, and the thread continues", async () => {
  const render = rendering({ threads: 1 });
  await assert.rejects(render({ ...sampleConfig(), taxStatus: "none" }), /taxStatus/);
  assert.ok((await render(sampleConfig())).length > 10_000);
});

test("a document that takes too long fails, and the next one is rendered", async (t) => {
  const render = rendering({ threads: 1, program: puppet });
  for (const how of ["loop", "wait"] as const) {
    const expire = expiring(t);
    const document = endless(how);
    const slow = render(document);
    const next = render("next");
    await Atomics.waitAsync(document.begun, 0, 0).value;
    expire();
    await assert.rejects(slow, /took more than 60000 ms/);
    assert.equal(text(await next), "next");
  }
});

test("a thread that breaks down is replaced", async () => {
  const render = rendering({ threads: 1, program: puppet });
  await assert.rejects(render("die"), /exited/);
  await assert.rejects(render("throw"), /thrown in the thread/);
  assert.equal(text(await render("next")), "next");
});

test("when too many are waiting, more are refused for the moment", async (t) => {
  const render = rendering({ threads: 1, queue: 2, program: puppet });
  const expire = expiring(t);
  const first = assert.rejects(render(endless()));
  const waiting = [render("a"), render("b")];
  await assert.rejects(
    render("c"),
    (error) => isApiError(error) && error.extensions.code === "SERVICE_UNAVAILABLE",
  );
  expire();
  await first;
  assert.deepEqual((await Promise.all(waiting)).map(text), ["a", "b"]);
});

test("closing ends what is under way", async () => {
  const made = renderer({ threads: 1, program: puppet });
  const results = Promise.allSettled([made.render(endless()), made.render("a")]);
  await made.close();
  for (const { status } of await results) assert.equal(status, "rejected");
});
