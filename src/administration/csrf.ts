import { createHmac, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler } from "express";
import { untrimmedField } from "./forms.ts";
import { Problem } from "./problem.ts";
import { getVisit } from "./visit.ts";

/** Returns the CSRF token of forms, derived from the cookie of the session or, before log-in, of the browser. */
export function deriveCsrfToken(secret: string): string {
  return createHmac("sha256", secret).update("forms of the administration").digest("base64url");
}

/**
 * Whether one of our pages sent the request, as the browser reports. Browsers send one of these headers with every form.
 */
function isFromOwnPage(request: Request, publicUrl: string | undefined): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined && site !== "same-origin") return false;
  const origin = request.get("origin");
  if (origin === undefined) return site === "same-origin";
  if (!URL.canParse(origin)) return false; // for example “null”
  const { host } = new URL(origin);
  return host === request.get("host") || (publicUrl !== undefined && host === new URL(publicUrl).host);
}

/** Refuses forms that don't come from one of our pages in this session. */
export function requireOwnForm(publicUrl: string | undefined): RequestHandler {
  return (request, response, next) => {
    if (request.method === "GET" || request.method === "HEAD") return next();
    const visit = getVisit(response);
    const expected = Buffer.from(visit.csrfToken);
    const given = Buffer.from(untrimmedField(visit, "_csrf"));
    const isOurs = given.length === expected.length && timingSafeEqual(given, expected);
    if (!isOurs || !isFromOwnPage(request, publicUrl))
      throw new Problem(
        403,
        "This form can’t be accepted",
        "It was not sent from a page of your current session. Nothing was changed. Open the page again and send the form from there. Your browser must accept cookies from this address.",
      );
    next();
  };
}
