/**
 * What tests with random data begin with: the same at each `npm test`, so that a change is what breaks them, and the number
 * of the environment variable SEED to try others. They name it when they fail.
 */
export const seed = Number(process.env.SEED ?? 1);
if (!Number.isSafeInteger(seed)) throw new Error("SEED has to be a whole number.");
