/** How a read operation is answered: by one SQL statement, or by Grafast. */
export type ReadEngine = "sql" | "grafast";

/** How many read operations were answered on each path since the process began. */
export const readCounts: Record<ReadEngine, number> = { sql: 0, grafast: 0 };
