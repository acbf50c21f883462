import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";

/** A test reporter that lists the slowest files at the end, including files that share a process (test/together.ts). */
export default async function* slowest(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { file: string; seconds: number }[] = [];
  for await (const { type, data } of events) {
    if ((type === "test:pass" || type === "test:fail") && data.details.type === "suite" && isFile(data.name))
      files.push({ file: data.name, seconds: data.details.duration_ms / 1_000 });
    if (type !== "test:summary") continue;
    if (data.file?.endsWith(".test.ts"))
      files.push({ file: relative("", data.file), seconds: data.duration_ms / 1_000 });
    if (data.file !== undefined) continue;
    files.sort((one, other) => other.seconds - one.seconds);
    const slow = files
      .slice(0, 15)
      .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(6)}  ${file}\n`);
    yield `\nThe slowest files, in seconds:\n${slow.join("")}\n`;
  }
}

/** Whether a suite is a whole test file that shares its process with others. */
const isFile = (name: string): boolean => /^test\/\S+\.test\.ts$/.test(name);
