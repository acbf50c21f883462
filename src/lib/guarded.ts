/** Yields the parts of something long, each after a check that it may continue. */
export async function* checkEach<Part>(
  parts: AsyncIterable<Part>,
  check: () => Promise<void>,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    await check();
    yield part;
  }
}
