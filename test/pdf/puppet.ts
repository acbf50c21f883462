// Runs in the threads of renderer.test.ts instead of render-pdf.ts: it does what its config says.

/** A document that takes for ever. */
export interface Endless {
  how: "loop" | "wait";
  /** Becomes 1 when the thread has begun. */
  begun: Int32Array;
}

export async function renderPdf(order: string | Endless): Promise<Uint8Array> {
  if (order === "die") process.exit(1);
  if (order === "throw") throw new Error("thrown in the thread");
  if (typeof order === "string") return new TextEncoder().encode(order);
  Atomics.store(order.begun, 0, 1);
  Atomics.notify(order.begun, 0);
  if (order.how === "loop") for (;;);
  return new Promise(() => {});
}
