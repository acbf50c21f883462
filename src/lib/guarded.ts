/** Passes on the parts of something long, each after a check whether it may go on. */
export async function* guarded<Part>(
  parts: AsyncIterable<Part>,
  check: () => Promise<void>,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    await check();
    yield part;
  }
}
