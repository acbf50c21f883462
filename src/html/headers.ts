import type { Request, RequestHandler } from "express";

/** Whether the browser speaks HTTPS, perhaps to a proxy in front of us. */
export function isSecure(request: Request, publicUrl: string | undefined): boolean {
  return request.secure || publicUrl?.startsWith("https:") === true;
}

const ownOnly = ["style-src", "script-src", "img-src", "form-action"];

/**
 * Tells browsers that pages may only load things from here and send forms here.
 *
 * @param more directives for what else they load from here
 */
export function pageHeaders(publicUrl: string | undefined, more: readonly string[] = []): RequestHandler {
  const contentPolicy = [
    "default-src 'none'",
    ...[...ownOnly, ...more].map((directive) => `${directive} 'self'`),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return (request, response, next) => {
    response.setHeader("content-security-policy", contentPolicy);
    response.setHeader("cache-control", "no-store");
    // Not no-referrer, with which browsers would not tell us where a form comes from
    response.setHeader("referrer-policy", "same-origin");
    response.setHeader("x-frame-options", "DENY");
    response.setHeader("cross-origin-opener-policy", "same-origin");
    response.setHeader("cross-origin-resource-policy", "same-origin");
    response.setHeader("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
    response.setHeader("x-robots-tag", "noindex");
    if (isSecure(request, publicUrl)) response.setHeader("strict-transport-security", "max-age=31536000");
    next();
  };
}
