import { fileURLToPath } from "node:url";
import type { Response } from "express";
import express, { Router } from "express";
import type { ServedVersion } from "../versions/serve-version.ts";
import { changesPathOf, explorerFiles, explorerPathOf } from "../versions/explorer-page.ts";
import { eventStream } from "./http-server.ts";

/** Sends an event for each change, for as long as the explorer listens. */
function sendChanges({ onChange }: ServedVersion, response: Response): void {
  response.setHeader("content-type", eventStream);
  response.setHeader("cache-control", "no-store");
  response.write("retry: 500\n\n");
  const stop = onChange(() => response.write("event: change\ndata: schema\n\n"));
  response.once("close", stop);
}

/** The explorer (Ruru), one page per version. One logs in with client credentials, which stay in the tab. */
export function explorers(served: readonly ServedVersion[]): Router {
  const router = Router();
  router.use(explorerFiles, express.static(fileURLToPath(new URL("./explorer/", import.meta.url))));
  // The image is without them
  router.get(/^\/ruru-static\/.*\.map$/, (_request, response) => void response.sendStatus(404));
  router.get("/", (_request, response) => response.redirect(explorerPathOf(served[0]!.version)));
  router.get(["/explorer/*page", "/ruru-static/*file"], (_request, response, next) => {
    // Its scripts are inline and start workers, but it loads everything from here.
    response.setHeader(
      "content-security-policy",
      "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
    );
    next();
  });
  for (const each of served) {
    const { version, handler } = each;
    router.get(changesPathOf(explorerPathOf(version)), (_request, response) => sendChanges(each, response));
    router.get([explorerPathOf(version), "/ruru-static/*file"], handler);
  }
  return router;
}
