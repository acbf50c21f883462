import type { ExecutionResult } from "postgraphile/graphql";

/** How an operation was answered: by one SQL statement, or by Grafast. */
export type Way = "sql" | "grafast";

const ways = new WeakMap<object, Way>();

/** Notes how an answer came about. */
export function markWay<T extends object>(answer: T, way: Way): T {
  ways.set(answer, way);
  return answer;
}

/** How an answer came about; undefined when nothing was read, for example because it was refused. */
export const wayOf = (answer: ExecutionResult): Way | undefined => ways.get(answer);

/** How many operations took which way since the process began. */
export const readCounts: Record<Way, number> = { sql: 0, grafast: 0 };
