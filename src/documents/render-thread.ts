// A thread of renderer.ts: takes configs, answers PDFs, one at a time.
import { parentPort } from "node:worker_threads";
import { renderPdf } from "./render.ts";

export type Rendered = { pdf: Uint8Array<ArrayBuffer> } | { error: Error };

const port = parentPort!;

async function answer(config: unknown): Promise<void> {
  try {
    // A copy, since a Buffer may share its memory with others, and that can't be handed over
    const pdf = new Uint8Array(await renderPdf(config));
    port.postMessage({ pdf } satisfies Rendered, [pdf.buffer]);
  } catch (error) {
    // Errors of libraries can have parts that don't travel between threads
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    port.postMessage({ error: Object.assign(new Error(message), { stack }) } satisfies Rendered);
  }
}

port.on("message", (config) => void answer(config));
