/** An error of the token endpoint, as in RFC 6749 §5.2. */
export class OAuthError extends Error {
  readonly status: number;
  /** For programs: `invalid_client` and so on. */
  readonly code: string;

  constructor(status: number, code: string, description: string) {
    super(description);
    this.status = status;
    this.code = code;
  }
}

/** Neither the description nor the response time reveals whether the key or the secret was wrong. */
export const invalidClient = () =>
  new OAuthError(
    401,
    "invalid_client",
    "The client is unknown, its secret is wrong, or it has been deactivated.",
  );

export const invalidRequest = (description: string) => new OAuthError(400, "invalid_request", description);
