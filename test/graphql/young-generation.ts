// A module for threads.
import { getHeapSpaceStatistics } from "node:v8";

/** Bytes of the young generation of the thread that calls it. */
export const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")!.space_size;
