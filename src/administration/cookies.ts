import { parseCookie } from "cookie";
import type { Request, Response } from "express";

/** The cookies of the administration: the session, and the one that binds the log-in form to its browser. */
export type CookieName = "session" | "visitor";

// With this prefix, browsers accept the cookie over HTTPS only, and not from a neighbouring domain.
const nameOf = (name: CookieName, secure: boolean) => `${secure ? "__Host-" : ""}service-${name}`;

/** The value of a cookie, if the request has it. */
export function readCookie(request: Request, name: CookieName, secure: boolean): string | undefined {
  return parseCookie(request.headers.cookie ?? "")[nameOf(name, secure)] || undefined;
}

/** Sets a cookie until the browser is closed, or deletes it. */
export function writeCookie(
  response: Response,
  name: CookieName,
  value: string | null,
  secure: boolean,
): void {
  const options = { httpOnly: true, sameSite: "strict", secure, path: "/" } as const;
  if (value === null) response.clearCookie(nameOf(name, secure), options);
  else response.cookie(nameOf(name, secure), value, options);
}
