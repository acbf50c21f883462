const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a value is a uuid as Postgres prints it: lower-case hexadecimal. */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && pattern.test(value);
}
