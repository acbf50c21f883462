/** A problem that the person at the terminal can solve. The message says how; it is shown without a stack trace. */
export class UserError extends Error {
  override name = "UserError";
}
