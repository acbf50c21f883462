/**
 * What keeps a command or the start from doing its work, and the person at the terminal can change. The message says
 * how; it is shown without a stack trace.
 */
export class UserError extends Error {
  override name = "UserError";
}
