import type { ErrorCode } from "../errors/api-error.ts";

/** Thrown to refuse a file. The message is for its sender. */
export class RefusedFile extends Error {
  override name = "RefusedFile";
  readonly status: number;
  readonly code: ErrorCode;

  constructor(status: number, message: string, code: ErrorCode = "BAD_USER_INPUT") {
    super(message);
    this.status = status;
    this.code = code;
  }
}
