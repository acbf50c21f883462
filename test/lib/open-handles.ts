import { after } from "node:test";

// `node --import` runs this in each test file. A file that leaves something open would never end, and the run would
// wait for it silently. With this it fails and names what is open.
const timeoutMs = Number(process.env.TEST_END_TIMEOUT_MS ?? 60_000);

if (process.env.NODE_TEST_CONTEXT !== undefined)
  after(() => {
    setTimeout(() => {
      const open = process.getActiveResourcesInfo().join(", ");
      process.stderr.write(`After its tests this file has left open: ${open}\n`);
      process.exit(1);
    }, timeoutMs).unref();
  });
