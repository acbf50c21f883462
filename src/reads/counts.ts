/** What answers a read operation: one SQL statement, or Grafast. */
export type ReadExecutor = "sql" | "grafast";

/** How many read operations were answered on each path since the process began. */
export const readCounts: Record<ReadExecutor, number> = { sql: 0, grafast: 0 };
