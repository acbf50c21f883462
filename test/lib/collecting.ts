import asyncHooks from "node:async_hooks";

// `node --import` runs this before node:test is loaded. node:test watches every promise of the process to know which suite a
// test belongs to. That costs processor time, and is useless once all tests are known. (An unhandled rejection still fails
// the process, but without the name of the test.)
let watch: asyncHooks.AsyncHook | undefined;

const createHook = asyncHooks.createHook;
if (process.env.NODE_TEST_CONTEXT !== undefined)
  asyncHooks.createHook = (callbacks) => {
    asyncHooks.createHook = createHook;
    return (watch = createHook(callbacks));
  };

/** Call this when all suites and tests of the process are known. */
export const endCollecting = (): void => void watch?.disable();
