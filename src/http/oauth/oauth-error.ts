/** An error of the token endpoint (RFC 6749 §5.2). */
export class OAuthError extends Error {
  readonly status: number;
  /** The code for programs, such as `invalid_client`. */
  readonly code: string;

  constructor(status: number, code: string, description: string) {
    super(description);
    this.status = status;
    this.code = code;
  }
}

/** Creates the error for a failed authentication. It doesn't reveal whether the client ID or the secret was wrong. */
export const invalidClient = () =>
  new OAuthError(
    401,
    "invalid_client",
    "The client is unknown, its secret is wrong, or it has been deactivated.",
  );

export const invalidRequest = (description: string) => new OAuthError(400, "invalid_request", description);
