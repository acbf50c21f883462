// What threads of renderer.test.ts run in the place of render.ts: does as its config says.

export async function renderPdf(order: unknown): Promise<Uint8Array> {
  if (order === "die") process.exit(1);
  if (order === "throw") throw new Error("thrown in the thread");
  if (order === "loop") for (;;);
  if (order === "wait") await new Promise(() => {});
  return new TextEncoder().encode(String(order));
}
