import asyncHooks from "node:async_hooks";

// `node --import` runs this before node:test is loaded, which watches every promise of the process to know which suite a
// test belongs to. That takes some of the processor time, and is of no use once all tests are known. (What a promise
// throws that nobody waits for still fails the process; only the name of the test is no longer said.)
let watch: asyncHooks.AsyncHook | undefined;

const createHook = asyncHooks.createHook;
if (process.env.NODE_TEST_CONTEXT !== undefined)
  asyncHooks.createHook = (callbacks) => {
    asyncHooks.createHook = createHook;
    return (watch = createHook(callbacks));
  };

/** Says that all suites and tests of the process are known. */
export const endCollecting = (): void => void watch?.disable();
