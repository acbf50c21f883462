import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";

/** A reporter that names the test files that took longest, at the end of a run. */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { file: string; seconds: number }[] = [];
  for await (const event of events) {
    if (event.type !== "test:summary" || event.data.file === undefined) continue;
    files.push({ file: relative("", event.data.file), seconds: event.data.duration_ms / 1_000 });
  }
  files.sort((one, other) => other.seconds - one.seconds);
  yield "\nThe slowest files, in seconds:\n";
  for (const { file, seconds } of files.slice(0, 15)) yield `${seconds.toFixed(1).padStart(6)}  ${file}\n`;
}
