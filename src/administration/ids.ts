const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether this is an id as addresses and forms have them. */
export function isId(value: unknown): value is string {
  return typeof value === "string" && uuid.test(value);
}
