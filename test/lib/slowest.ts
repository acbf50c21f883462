import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";

/**
 * A reporter that lists the slowest test files at the end of a run, and appends what became of files to the one that
 * TEST_RESULTS names: `failed` or `passed` and a name, also of those that share a process, see test/together.ts. (A
 * third reporter makes Node warn of a leak.)
 */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { file: string; seconds: number }[] = [];
  const results = new Set<string>();
  for await (const { type, data } of events) {
    if (type === "test:fail" && data.file !== undefined) results.add(`failed ${relative("", data.file)}\n`);
    if (
      (type === "test:pass" || type === "test:fail") &&
      data.details.type === "suite" &&
      isFile(data.name)
    ) {
      files.push({ file: data.name, seconds: data.details.duration_ms / 1_000 });
      results.add(`${type === "test:pass" ? "passed" : "failed"} ${data.name}\n`);
    }
    if (type === "test:summary" && data.file !== undefined) {
      results.add(`${data.success ? "passed" : "failed"} ${relative("", data.file)}\n`);
      if (data.file.endsWith(".test.ts"))
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
  const path = process.env.TEST_RESULTS;
  if (path) appendFileSync(path, [...results].join(""));
}

/** Whether a suite is a whole file that shares its process. */
const isFile = (name: string): boolean => /^test\/\S+\.test\.ts$/.test(name);
