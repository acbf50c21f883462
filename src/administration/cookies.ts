import { parseCookie } from "cookie";
import type { Request, Response } from "express";

/** The cookies of the administration: the session, and what ties the form for logging in to its browser. */
export type CookieName = "session" | "visitor";

/** Whether the browser speaks HTTPS, maybe to a proxy before us. */
export function isSecure(request: Request, publicUrl: string | undefined): boolean {
  return request.secure || publicUrl?.startsWith("https:") === true;
}

// With the prefix browsers take a cookie over HTTPS only, and none that a neighbouring domain has set.
const nameOf = (name: CookieName, secure: boolean) => `${secure ? "__Host-" : ""}service-${name}`;

/** The value of a cookie, if the request has it. */
export function readCookie(request: Request, name: CookieName, secure: boolean): string | undefined {
  return parseCookie(request.headers.cookie ?? "")[nameOf(name, secure)] || undefined;
}

/** Sets a cookie until the browser is closed, or takes it away. */
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
