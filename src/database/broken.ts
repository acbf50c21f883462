/** Whether to throw a connection away: after any error that isn't Postgres' answer to a statement. */
export function isConnectionBroken(failure: unknown): boolean {
  if (failure === undefined) return false;
  return !(failure instanceof Error && "severity" in failure && failure.severity === "ERROR");
}
