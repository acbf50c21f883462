import { after } from "node:test";
import { isMainThread } from "node:worker_threads";

// `node --import` runs this in each test file. A file that leaves a handle open would never end, and the run would wait for
// it silently. With this it fails and names the open handles.
const timeoutMs = Number(process.env.TEST_END_TIMEOUT_MS ?? 60_000);

let haveEnded = false;

if (process.env.NODE_TEST_CONTEXT !== undefined)
  after(() => {
    haveEnded = true;
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(", ");
      process.stderr.write(`After its tests this file has left open: ${open}\n`);
      process.exit(1);
    }, timeoutMs).unref();
  });

// If a file ends its process, the test runner only looks at the exit code
if (process.env.NODE_TEST_CONTEXT !== undefined && isMainThread)
  process.once("exit", () => {
    if (haveEnded) return;
    process.stderr.write("This file has ended its process before its tests have ended.\n");
    process.exitCode = 1;
  });
