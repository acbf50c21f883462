import type { RequestHandler } from "express";
import { isSecure } from "./cookies.ts";

const contentPolicy = [
  "default-src 'none'",
  ...["style-src", "script-src", "img-src", "form-action"].map((directive) => `${directive} 'self'`),
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Tells browsers that pages of the administration may only load things from here and send forms here. */
export function pageHeaders(publicUrl: string | undefined): RequestHandler {
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
