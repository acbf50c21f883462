import { randomBytes } from "node:crypto";
import { parseCookie } from "cookie";
import type { Request, RequestHandler, Response } from "express";
import { hashOfToken } from "../auth/session-token.ts";
import { isSecure } from "../html/headers.ts";
import { csrfTokenOf } from "./csrf.ts";
import type { Navigation } from "./section.ts";
import { addressOf, asAdministration, rowsOf, visitOf } from "./visit.ts";
import type { VisitingAdministrator } from "./visit.ts";
import type { AdministrationOptions } from "./section.ts";

/** The cookies of the administration: the session, and the one that binds the log-in form to its browser. */
type CookieName = "session" | "visitor";

// With this prefix, browsers accept the cookie over HTTPS only, and not from a neighbouring domain.
const nameOf = (name: CookieName, secure: boolean) => `${secure ? "__Host-" : ""}service-${name}`;

/** The value of a cookie, if the request has it. */
function readCookie(request: Request, name: CookieName, secure: boolean): string | undefined {
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

/** Finds the session of a request, if any. */
export function recogniseVisitor(
  { pool, publicUrl, outdateRights }: AdministrationOptions,
  navigation: Navigation,
): RequestHandler {
  return async (request, response, next) => {
    // Also for the log: within a router, the path is relative
    const path = request.path;
    response.locals.loggedPath = request.baseUrl + path;
    const secure = isSecure(request, publicUrl);
    const token = readCookie(request, "session", secure);
    const address = addressOf(request);
    const sessionHash = token === undefined ? undefined : hashOfToken(token);
    const run = async <T>(work: Parameters<typeof asAdministration<T>>[2]) => {
      const result = await asAdministration(pool, { sessionHash, address }, work);
      // Only those who are logged in can change rights; others shall not empty caches
      if (visitor && request.method === "POST") outdateRights();
      return result;
    };
    let visitor: VisitingAdministrator | null = null;
    let browser = readCookie(request, "visitor", secure);
    // The error page for an absent database needs a visit as well
    response.locals.visit = {
      request,
      response,
      visitor,
      csrfToken: csrfTokenOf(token ?? browser ?? ""),
      menu: navigation,
      path,
      origin:
        publicUrl === undefined ? `${request.protocol}://${request.get("host")}` : new URL(publicUrl).origin,
      run,
    };
    if (token !== undefined) {
      const [row] = await run((client) =>
        rowsOf<{ administrator_id: string; name: string }>(client, "use_session()"),
      );
      visitor = row ? { id: row.administrator_id, name: row.name } : null;
    }
    if (visitor) {
      visitOf(response).visitor = visitor;
    } else {
      if (browser === undefined) {
        browser = randomBytes(16).toString("base64url");
        writeCookie(response, "visitor", browser, secure);
      }
      visitOf(response).csrfToken = csrfTokenOf(browser);
      response.locals.hadSession = token !== undefined;
    }
    next();
  };
}

/** Sends visitors without a session to the log-in page, and back afterwards. */
export const requireVisitor: RequestHandler = (request, response, next) => {
  if (visitOf(response).visitor) return next();
  sendToLogIn(request, response, response.locals.hadSession === true);
};

/** @param ended whether there was a session before, so that the page can say that it ended */
export function sendToLogIn(request: Request, response: Response, ended: boolean): void {
  const isForm = request.method !== "GET" && request.method !== "HEAD";
  // Back to the page with the form: its input is lost
  const wanted = isForm ? request.get("referer") : request.originalUrl;
  const query = new URLSearchParams({ next: ownPath(wanted) });
  if (ended) query.set("done", isForm ? "form" : "page");
  response.redirect(303, `/admin/log-in?${query}`);
}

/** The path of a page of the administration, from an address that may lead anywhere. */
export function ownPath(address: string | undefined): string {
  const here = "http://here.invalid";
  if (address === undefined || !URL.canParse(address, here)) return "/admin";
  const { pathname, search } = new URL(address, here);
  const isPage = /^\/admin\/[\w/-]*$/.test(pathname) && !pathname.startsWith("/admin/log-");
  return isPage ? pathname + search : "/admin";
}
