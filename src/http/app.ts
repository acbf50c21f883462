import type { RequestListener } from "node:http";
import express from "express";
import type { RequestHandler } from "express";
import { administration } from "../administration/administration.ts";
import { pathOf } from "../versions/versions.ts";
import { directly } from "./direct-way.ts";
import { explorers } from "./explorer.ts";
import { answerIntrospection } from "./middleware/answer-introspection.ts";
import { answerReads } from "./middleware/answer-reads.ts";
import { costlyTurns } from "./middleware/costly-turns.ts";
import { countDeprecatedFields } from "./middleware/count-deprecated-fields.ts";
import { countUse } from "./middleware/count-use.ts";
import { documentDownload, documentPath } from "./middleware/document-download.ts";
import { findVersion } from "./middleware/find-version.ts";
import { liveness, readinessEndpoint } from "./middleware/health.ts";
import { notFound, unexpectedError } from "./middleware/last-resort.ts";
import { listVersions, versionsPath } from "./middleware/list-versions.ts";
import { negotiateLocale } from "./middleware/negotiate-locale.ts";
import { negotiateMediaType } from "./middleware/negotiate-media-type.ts";
import { oneHost } from "./middleware/one-host.ts";
import { onlyPost } from "./middleware/only-post.ts";
import { readGraphqlBody } from "./middleware/read-graphql-body.ts";
import { readOperation, refuseOperation } from "./middleware/read-operation.ts";
import { requestId } from "./middleware/request-id.ts";
import { requirePlan } from "./middleware/require-plan.ts";
import { requireToken } from "./middleware/require-token.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import { tokenEndpoint } from "./oauth/token-endpoint.ts";
import type { Parts } from "./parts.ts";

/** The service's HTTP side: which middlewares there are, and in which order requests pass them. */
export function createApp(parts: Parts): RequestListener {
  const { settings, logger, now, pool, served, versions } = parts;
  const ofEveryRequest = [requestId(logger), securityHeaders, oneHost];
  const ofOperations = middlewaresOfOperations(parts);

  const app = express()
    .disable("x-powered-by")
    .disable("etag")
    .enable("strict routing")
    .enable("case sensitive routing")
    .set("trust proxy", settings.trustProxy);
  app.use(ofEveryRequest);
  app.get("/livez", liveness);
  // `/healthz` is what it was called
  app.get(["/readyz", "/healthz"], readinessEndpoint(parts.readiness));
  app.all("/api/oauth/token", tokenEndpoint({ ...parts, perMinute: settings.tokenRequestsPerMinute }));
  app.all(documentPath, documentDownload(pool, parts.renderer));
  app.get(versionsPath, listVersions(versions, now));
  app.all("/api/graphql/:version", ofOperations);
  for (const { version, handler } of served) app.post(pathOf(version), parts.unread.countNext, handler);
  app.use("/admin", administration({ ...parts, ...settings, webhookAllow: settings.webhookAllow.join() }));
  if (settings.explorer) app.use(explorers(served));
  const onError = unexpectedError(logger);
  app.use(notFound, onError);

  return directly(app, {
    routes: served.map(({ version, handler }) => ({
      path: pathOf(version),
      params: { version: version.slug },
      stations: [...ofOperations, parts.unread.countNext, handler],
    })),
    common: ofEveryRequest,
    atTheEnd: notFound,
    onError,
  });
}

/** What a request to the GraphQL endpoint passes, before its version executes it. */
function middlewaresOfOperations(parts: Parts): RequestHandler[] {
  const { settings, logger, versions, served, plan, usage, spending, unread, heavyWork } = parts;
  return [
    parts.metrics.count,
    parts.refusals.watch,
    findVersion(versions, parts.now, parts.availability),
    requirePlan(plan, logger),
    onlyPost,
    requireToken(parts.tokens, parts.credentials, logger, parts.isSessionToken),
    unread.bound,
    countUse(usage),
    negotiateMediaType,
    negotiateLocale(parts.locales),
    spending.forBody,
    readGraphqlBody(settings.maxBodyBytes, heavyWork),
    spending.forDocument,
    readOperation(served, parts.meter, heavyWork),
    countDeprecatedFields(usage, served),
    spending.forOperation,
    refuseOperation,
    costlyTurns(),
    answerIntrospection(served, unread, heavyWork),
    ...(parts.readText ? [answerReads(served, parts.readText, unread)] : []),
  ];
}
