import express from "express";
import type { Express, RequestHandler } from "express";
import { administration } from "../administration/administration.ts";
import { timetable } from "../versions/timetable.ts";
import { pathOf } from "../versions/versions.ts";
import { createProxyTrust } from "./address-of.ts";
import {
  assetPaths,
  documentation,
  schemaFile,
  sendAssets,
  sendTexts,
  textPaths,
} from "./documentation-pages.ts";
import { createExplorerRouter } from "./explorer.ts";
import { liveness, readinessEndpoint } from "./readiness-endpoint.ts";
import { versionFinder, versionsPath } from "./middleware/access/find-version.ts";
import { requireMerchantPlan } from "./middleware/access/require-merchant-plan.ts";
import { bulkFile, bulkFilePath } from "./middleware/files/bulk-download.ts";
import { pdfDownload, pdfPath } from "./middleware/files/pdf-download.ts";
import { serveMetadata, metadataPath, tokenPath } from "./oauth/metadata.ts";
import { tokenEndpoint } from "./oauth/token-endpoint.ts";
import type { Parts } from "./parts.ts";
import type { Middleware } from "./pipeline.ts";

/** Serves everything that isn't requested many times a second, by routes of Express: pages, files, tokens. */
export function pages(parts: Parts): Middleware {
  const { settings, logger, now, pool, served, versions } = parts;
  const app = express()
    .disable("x-powered-by")
    .disable("etag")
    .enable("strict routing")
    .enable("case sensitive routing")
    .set("trust proxy", createProxyTrust(settings.trustProxy));
  app.get("/livez", liveness);
  // /healthz is the old name of /readyz
  app.get(["/readyz", "/healthz"], readinessEndpoint(parts.readiness));
  app.get(metadataPath, serveMetadata(served, settings.publicUrl, settings.hosts));
  app.all(
    tokenPath,
    tokenEndpoint({ ...parts, merchant: parts, perMinute: settings.tokenRequestsPerMinute }),
  );
  const requirePlan = requireMerchantPlan(parts.merchantPlan, logger);
  app.use([pdfPath, bulkFilePath], (request, response, next) => requirePlan(request, response, () => next()));
  app.all(pdfPath, pdfDownload(pool, parts.admission, parts.renderer));
  app.all(bulkFilePath, bulkFile(parts.bulk.storage, parts.admission));
  // Lists the served versions and their last days. Needs no token
  app.get(versionsPath, (_request, response) => void response.json({ versions: timetable(versions, now()) }));
  const find = versionFinder(versions, now, parts.availability);
  const requireVersion: RequestHandler = (request, response, next) => {
    if (find(request, response)) next();
  };
  const schemaFilePath = `${pathOf({ slug: ":version" })}/schema.graphql`;
  app.get(schemaFilePath, requireVersion, schemaFile(parts.documentation));
  app.get(assetPaths, sendAssets(settings.publicUrl));
  app.get(textPaths, sendTexts(parts.documentation, settings.publicUrl));
  app.use("/docs", documentation(parts.documentation, settings.publicUrl));
  const adminPages = () =>
    administration({ ...parts, ...settings, webhookAllow: settings.webhookAllow.join() });
  app.use("/admin", createOnDemand(adminPages));
  if (settings.explorer) app.use(createExplorerRouter(served));
  return useExpress(app);
}

/** Returns a middleware that lets Express handle requests, and passes on those without a route. */
export function useExpress(app: Express): Middleware {
  return (request, response, next) =>
    new Promise((_resolve, reject) => {
      app(request as express.Request, response as express.Response, (error?: unknown) =>
        error instanceof Error ? reject(error) : next(),
      );
    });
}

/** Returns a handler that is created at its first request. */
function createOnDemand(make: () => RequestHandler): RequestHandler {
  let handler: RequestHandler | undefined;
  return (request, response, next) => (handler ??= make())(request, response, next);
}
