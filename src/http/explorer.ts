import { fileURLToPath } from "node:url";
import type { Response } from "express";
import express, { Router } from "express";
import type { ServedVersion } from "../versions/serve-version.ts";
import {
  changesPathOf,
  explorerFiles,
  explorerPage,
  explorerPathOf,
  ruruFiles,
} from "../versions/explorer-page.ts";
import { eventStream } from "./http-server.ts";

/** Sends an event for each change, for as long as the explorer listens. */
function sendChanges({ onChange }: ServedVersion, response: Response): void {
  response.setHeader("content-type", eventStream);
  response.setHeader("cache-control", "no-store");
  response.write("retry: 500\n\n");
  const stop = onChange(() => response.write("event: change\ndata: schema\n\n"));
  response.once("close", stop);
}

/** Serves the explorer (Ruru), a page per version. People log in with a client ID and secret, which stay in the tab. */
export function createExplorerRouter(served: readonly ServedVersion[]): Router {
  const router = Router();
  router.use(explorerFiles, express.static(fileURLToPath(new URL("./explorer/", import.meta.url))));
  // The container image doesn't contain them
  router.get(/^\/ruru-static\/.*\.map$/, (_request, response) => void response.sendStatus(404));
  router.get("/", (_request, response) => response.redirect(explorerPathOf(served[0]!.version)));
  router.get(["/explorer/*page", `${ruruFiles}*file`], (_request, response, next) => {
    // Its scripts are inline and start workers, but it loads everything from this origin
    response.setHeader(
      "content-security-policy",
      "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
    );
    next();
  });
  for (const each of served) {
    const path = explorerPathOf(each.version);
    router.get(changesPathOf(path), (_request, response) => sendChanges(each, response));
    router.get(path, async (_request, response) => void response.send(await explorerPage(each.version)));
  }
  router.get(`${ruruFiles}*file`, async (request, response, next) => {
    const { serveStatic } = await import("postgraphile/grafserv/ruru/static");
    serveStatic(ruruFiles)(request, response, next);
  });
  return router;
}
