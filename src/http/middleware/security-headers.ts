import type { Middleware } from "../pipeline.ts";

/** Tells browsers not to guess the type of answers, and not to show them in frames. */
export const securityHeaders: Middleware = (_request, response, next) => {
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("referrer-policy", "no-referrer");
  response.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
  next();
};
