/**
 * The seed of tests with random data. It is the same at each `npm test`, so that only a change of the code breaks them. The
 * environment variable SEED tries another seed. Failing tests print their seed.
 */
export const seed = Number(process.env.SEED ?? 1);
if (!Number.isSafeInteger(seed)) throw new Error("SEED has to be a whole number.");
