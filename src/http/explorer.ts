import { Router } from "express";
import type { ServedVersion } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";

/** Path of the explorer of a version. */
export function explorerPathOf({ slug }: Version): string {
  return `/explorer/${slug}`;
}

/**
 * The explorer (Ruru), one page per version, in development. It needs a token: enter `{"Authorization": "Bearer …"}`
 * under Headers.
 */
export function explorers(served: readonly ServedVersion[]): Router {
  const router = Router();
  router.get("/", (_request, response) => response.redirect(explorerPathOf(served[0]!.version)));
  router.get(["/explorer/*page", "/ruru-static/*file"], (_request, response, next) => {
    // Its scripts are inline and start workers, but it loads everything from here.
    response.setHeader(
      "content-security-policy",
      "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
    );
    next();
  });
  for (const { version, handler } of served)
    router.get([explorerPathOf(version), "/ruru-static/*file"], handler);
  return router;
}
