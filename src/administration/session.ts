import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { parseCookie } from "cookie";
import type { Request, RequestHandler } from "express";
import { hashToken } from "../auth/session-token.ts";
import { isSecure } from "../html/headers.ts";
import { asRole } from "../postgres/as-role.ts";
import { deriveCsrfToken } from "./csrf.ts";
import type { AdministrationOptions } from "./section.ts";
import { callForRows, getVisit } from "./visit.ts";
import type { Menu, Visit } from "./visit.ts";

/** The cookies of the administration. `visitor` binds the log-in form to its browser. */
type CookieName = "session" | "visitor";
type Cookies = Pick<Visit, "request" | "response" | "isSecure">;

// With this prefix, browsers accept the cookie over HTTPS only, and not from a sibling domain.
const cookieName = (name: CookieName, isSecure: boolean) => `${isSecure ? "__Host-" : ""}service-${name}`;

/** Returns the value of a cookie, if the request has it. */
const readCookie = ({ request, isSecure }: Cookies, name: CookieName): string | undefined =>
  parseCookie(request.headers.cookie ?? "")[cookieName(name, isSecure)] || undefined;

/** Sets a cookie until the browser is closed, or deletes it. */
export function writeCookie({ response, isSecure }: Cookies, name: CookieName, value: string | null): void {
  const options = { httpOnly: true, sameSite: "strict", secure: isSecure, path: "/" } as const;
  if (value === null) response.clearCookie(cookieName(name, isSecure), options);
  else response.cookie(cookieName(name, isSecure), value, options);
}

/** Returns the client's IP address. */
function clientAddress(request: Request): string {
  // Dual-stack sockets write IPv4 addresses as IPv6; and a proxy may send anything
  const address = (request.ip ?? "").replace(/^::ffff:/, "").replace(/%.*$/, "");
  return isIP(address) === 0 ? "0.0.0.0" : address;
}

/** Finds the session of a request, if it has one. */
export function recogniseVisitor(
  { pool, publicUrl, outdateRights }: AdministrationOptions,
  menu: Menu,
): RequestHandler {
  return async (request, response, next) => {
    // The log needs the full path: within a router, the path is relative
    const path = request.path;
    response.locals.loggedPath = request.baseUrl + path;
    const cookies = { request, response, isSecure: isSecure(request, publicUrl) };
    const token = readCookie(cookies, "session");
    const browser = readCookie(cookies, "visitor");
    const sessionHash = token === undefined ? "" : hashToken(token).toString("hex");
    const address = clientAddress(request);
    // The error page for an unreachable database needs a visit as well
    const visit: Visit = {
      ...cookies,
      visitor: null,
      hadSession: token !== undefined,
      csrfToken: deriveCsrfToken(token ?? browser ?? ""),
      menu,
      path,
      address,
      origin:
        publicUrl === undefined ? `${request.protocol}://${request.get("host")}` : new URL(publicUrl).origin,
      async run(work) {
        const result = await asRole(pool, "service_administration", async (client) => {
          const settings =
            "select set_config('service.session', $1, true), set_config('service.address', $2, true)";
          await client.query(settings, [sessionHash, address]);
          return work(client);
        });
        // Only logged-in visitors can change rights; others must not empty caches
        if (visit.visitor && request.method === "POST") outdateRights();
        return result;
      },
    };
    response.locals.visit = visit;
    if (token !== undefined) {
      const [row] = await visit.run((client) =>
        callForRows<{ administrator_id: string; name: string }>(client, "use_session()"),
      );
      if (row) visit.visitor = { id: row.administrator_id, name: row.name };
    }
    if (!visit.visitor) {
      const known = browser ?? randomBytes(16).toString("base64url");
      if (browser === undefined) writeCookie(visit, "visitor", known);
      visit.csrfToken = deriveCsrfToken(known);
    }
    next();
  };
}

/** Sends visitors without a session to the log-in page, and back afterwards. */
export const requireVisitor: RequestHandler = (_request, response, next) => {
  const visit = getVisit(response);
  if (visit.visitor) return next();
  redirectToLogIn(visit, visit.hadSession);
};

/** Redirects to the log-in page. @param ended whether a session has ended, so that the page says so */
export function redirectToLogIn({ request, response }: Visit, ended: boolean): void {
  const isForm = request.method !== "GET" && request.method !== "HEAD";
  // After a form, back to the page with the form: the input is lost
  const wanted = isForm ? request.get("referer") : request.originalUrl;
  const query = new URLSearchParams({ next: administrationPath(wanted) });
  if (ended) query.set("done", isForm ? "form" : "page");
  response.redirect(303, `/admin/log-in?${query}`);
}

/** Returns the path of an administration page, from an address that may lead anywhere. */
export function administrationPath(address: string | undefined): string {
  const here = "http://here.invalid";
  if (address === undefined || !URL.canParse(address, here)) return "/admin";
  const { pathname, search } = new URL(address, here);
  const isPage = /^\/admin\/[\w/-]*$/.test(pathname) && !pathname.startsWith("/admin/log-");
  return isPage ? pathname + search : "/admin";
}
