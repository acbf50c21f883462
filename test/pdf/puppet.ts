// Runs in the threads of renderer.test.ts instead of render-pdf.ts: it does what its config says.

export async function renderPdf(order: unknown): Promise<Uint8Array> {
  if (order === "die") process.exit(1);
  if (order === "throw") throw new Error("thrown in the thread");
  if (order === "loop") for (;;);
  if (order === "wait") await new Promise(() => {});
  return new TextEncoder().encode(String(order));
}
