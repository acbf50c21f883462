/**
 * Whether to throw a connection away: after any error that isn't Postgres' answer to a statement; and when it leads to
 * a server that takes no writes, for after a failover a new one may lead to the server that does.
 */
export function isConnectionBroken(failure: unknown): boolean {
  if (failure === undefined) return false;
  if (!(failure instanceof Error && "severity" in failure && failure.severity === "ERROR")) return true;
  return "code" in failure && failure.code === "25006"; // read_only_sql_transaction
}
