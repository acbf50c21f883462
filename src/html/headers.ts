import type { Request, RequestHandler } from "express";

/** Whether the browser speaks HTTPS, perhaps to a proxy in front of us. */
export function isSecure(request: Request, publicUrl: string | undefined): boolean {
  return request.secure || publicUrl?.startsWith("https:") === true;
}

const ownContentDirectives = ["style-src", "script-src", "img-src", "form-action"];

/**
 * Sets security headers. Pages may only load files from this server and send forms to it.
 *
 * @param more directives for other kinds of content from this server
 */
export function pageHeaders(publicUrl: string | undefined, more: readonly string[] = []): RequestHandler {
  const contentPolicy = [
    "default-src 'none'",
    ...[...ownContentDirectives, ...more].map((directive) => `${directive} 'self'`),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return (request, response, next) => {
    response.setHeader("content-security-policy", contentPolicy);
    response.setHeader("cache-control", "no-store");
    // Not no-referrer: with it, browsers don't say where a form comes from
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
