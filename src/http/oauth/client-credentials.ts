/** The client ID and client secret that a client sends to the token endpoint. */
export interface PresentedCredentials {
  accessKey: string;
  secret: string;
}

/** Decodes `application/x-www-form-urlencoded`, which RFC 6749 §2.3.1 prescribes for Basic authentication. */
function decodeFormValue(value: string): string {
  return decodeURIComponent(value.replaceAll("+", " "));
}

/** Returns the client credentials in an `Authorization: Basic` header; null when there are none. */
export function parseBasic(header: string): PresentedCredentials | null {
  const encoded = /^Basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header)?.[1];
  if (encoded === undefined) return null;
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  if (colon < 0) return null;
  try {
    return {
      accessKey: decodeFormValue(pair.slice(0, colon)),
      secret: decodeFormValue(pair.slice(colon + 1)),
    };
  } catch {
    return null; // An invalid percent-encoding
  }
}
