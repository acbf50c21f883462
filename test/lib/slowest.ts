import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";

/**
 * A reporter that lists the slowest test files at the end of a run, and appends those in which something failed to the
 * file that TEST_FAILED_FILES names, one per line. (A third reporter makes Node warn of a leak.)
 */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { file: string; seconds: number }[] = [];
  const failed = new Set<string>();
  for await (const { type, data } of events) {
    if (type === "test:fail" && data.file !== undefined) failed.add(relative("", data.file));
    if (type === "test:summary" && data.file !== undefined) {
      files.push({ file: relative("", data.file), seconds: data.duration_ms / 1_000 });
    }
    if (type === "test:summary" && data.file === undefined) {
      files.sort((one, other) => other.seconds - one.seconds);
      const slow = files
        .slice(0, 15)
        .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)}  ${file}\n`);
      yield `\nThe slowest files, in seconds:\n${slow.join("")}\n`;
    }
  }
  const list = process.env.TEST_FAILED_FILES;
  if (list) appendFileSync(list, [...failed].map((file) => `${file}\n`).join(""));
}
