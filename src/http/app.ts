import type { RequestListener } from "node:http";
import express from "express";
import type { Express, RequestHandler } from "express";
import { administration } from "../administration/administration.ts";
import { addressBy, trustOf } from "./address-of.ts";
import { EventLoopQueue } from "../lib/event-loop-queue.ts";
import { documentation, schemaFile } from "./documentation.ts";
import { explorers } from "./explorer.ts";
import { answerIntrospection } from "./middleware/answer-introspection.ts";
import { answerMutations } from "./middleware/answer-mutations.ts";
import { answerReads } from "./middleware/answer-reads.ts";
import { bulkFile, bulkFilePath } from "./middleware/bulk-download.ts";
import { answerStreams } from "./middleware/answer-streams.ts";
import { bulkUpload, bulkUploadPath } from "./middleware/bulk-upload.ts";
import { costlyQueue, costlyTurns } from "./middleware/costly-turns.ts";
import { countFields } from "./middleware/count-fields.ts";
import { countUse } from "./middleware/count-use.ts";
import { crossOrigin } from "./middleware/cross-origin.ts";
import { pdfDownload, pdfPath } from "./middleware/pdf-download.ts";
import { eventsEndpoint, isForEvents } from "./middleware/events-endpoint.ts";
import { executeOperation } from "./middleware/execute-operation.ts";
import { fairTurns } from "./middleware/fair-turns.ts";
import { getOrPost, noMutationByGet } from "./middleware/get-or-post.ts";
import { findVersion, isForEndpoint } from "./middleware/find-version.ts";
import { liveness, readinessEndpoint } from "./middleware/health.ts";
import { notFound, unexpectedError } from "./middleware/last-resort.ts";
import { limitStreams } from "./middleware/limit-streams.ts";
import { listVersions, versionsPath } from "./middleware/list-versions.ts";
import { nameOperation } from "./middleware/name-operation.ts";
import { negotiateLocale } from "./middleware/negotiate-locale.ts";
import { negotiateMediaType } from "./middleware/negotiate-media-type.ts";
import { negotiateStream } from "./middleware/negotiate-stream.ts";
import { oneHost } from "./middleware/one-host.ts";
import { ownWrites } from "./middleware/own-writes.ts";
import { persistedQueries } from "./middleware/persisted-queries.ts";
import { readGraphqlBody } from "./middleware/read-graphql-body.ts";
import { readOperation, refuseMissingScopes, refuseOperation } from "./middleware/read-operation.ts";
import { requestId } from "./middleware/request-id.ts";
import { requireMerchantPlan } from "./middleware/require-merchant-plan.ts";
import { identifier, requireToken } from "./middleware/require-token.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import { metadata, metadataPath, tokenPath } from "./oauth/metadata.ts";
import { tellCost } from "./middleware/tell-cost.ts";
import { traceRequests, watchRequests } from "./middleware/watch-requests.ts";
import { tokenEndpoint } from "./oauth/token-endpoint.ts";
import { mutationAnswerer } from "../mutations/answer.ts";
import type { Parts } from "./parts.ts";
import { pathOf } from "../versions/versions.ts";
import { pipeline } from "./pipeline.ts";
import type { Middleware, Request } from "./pipeline.ts";

/** The service's HTTP side: the middlewares, in the order in which requests pass them. */
export function createApp(parts: Parts): RequestListener {
  const { settings, logger, versions } = parts;
  const ofEveryRequest = [requestId(logger), securityHeaders, oneHost, crossOrigin(settings.corsOrigins)];
  const onError = unexpectedError(logger);
  const ofOperations = middlewaresOfOperations(parts, addressBy(trustOf(settings.trustProxy)));
  const head = versions.filter(({ kind }) => kind === "floating").map(eventsEndpoint);
  const operations = pipeline([...ofEveryRequest, ...head, ...ofOperations, notFound], onError);
  // Of many merchants, few are asked for anything else
  let others: Express | undefined;
  return (request, response) => {
    if (isForEndpoint(request.url!) || isForEvents(request.url!)) operations(request, response);
    else (others ??= appOfOthers(parts, ofEveryRequest))(request, response);
  };
}

/** What answers other requests than operations. */
function appOfOthers(parts: Parts, ofEveryRequest: Middleware[]): Express {
  const { settings, logger, now, pool, served, versions } = parts;
  const trust = trustOf(settings.trustProxy);
  const app = express()
    .disable("x-powered-by")
    .disable("etag")
    .enable("strict routing")
    .enable("case sensitive routing")
    .set("trust proxy", trust);
  app.use(ofEveryRequest);
  app.get("/livez", liveness);
  // The older name of /readyz
  app.get(["/readyz", "/healthz"], readinessEndpoint(parts.readiness));
  app.get(metadataPath, metadata(served, settings.publicUrl, settings.hosts));
  app.all(tokenPath, tokenEndpoint({ ...parts, of: parts, perMinute: settings.tokenRequestsPerMinute }));
  app.use([pdfPath, bulkFilePath], requireMerchantPlan(parts.merchantPlan, logger));
  app.all(pdfPath, pdfDownload(pool, parts.admission, parts.renderer));
  app.all(bulkFilePath, bulkFile(parts.bulk.storage, parts.admission));
  app.all(bulkUploadPath, ofUploads(parts, addressBy(trust)));
  app.get(versionsPath, listVersions(versions, now));
  const schemaFilePath = `${pathOf({ slug: ":version" })}/schema.graphql`;
  app.get(schemaFilePath, findVersion(versions, now, parts.availability), schemaFile(parts.documentation));
  app.use("/docs", documentation(parts.documentation, settings.publicUrl));
  const pages = () => administration({ ...parts, ...settings, webhookAllow: settings.webhookAllow.join() });
  app.use("/admin", whenAsked(pages));
  if (settings.explorer) app.use(explorers(served));
  return app.use(notFound, unexpectedError(logger));
}

/** Makes a handler at the first request for it. */
function whenAsked(make: () => RequestHandler): RequestHandler {
  let made: RequestHandler | undefined;
  return (request, response, next) => (made ??= make())(request, response, next);
}

/** The middlewares of an upload. */
function ofUploads(parts: Parts, addressOf: (request: Request) => string): Middleware[] {
  const { logger, tokens, credentials, tracing } = parts;
  return [
    traceRequests(tracing, bulkUploadPath),
    parts.refusals.watch(addressOf),
    requireMerchantPlan(parts.merchantPlan, logger),
    requireToken(tokens, credentials, logger, parts.isSessionToken, addressOf, new EventLoopQueue()),
    bulkUpload(parts.bulk, parts.admission),
  ];
}

/** The middlewares of a request to the GraphQL endpoint. */
function middlewaresOfOperations(parts: Parts, addressOf: (request: Request) => string): Middleware[] {
  const { settings, logger, versions, served, merchantPlan, usage, spending, unread, thread } = parts;
  const { metrics, tracing, turns } = parts;
  const { arrive, pass } = watchRequests({
    ...{ logger, metrics, tracing },
    logRequests: settings.logRequests,
    slowMs: settings.slowMs,
  });
  const costly = costlyQueue();
  metrics.watchWaits("event loop", turns);
  metrics.watchWaits("costly", costly);
  return [
    arrive,
    parts.refusals.watch(addressOf),
    findVersion(versions, parts.now, parts.availability),
    requireMerchantPlan(merchantPlan, logger),
    getOrPost,
    requireToken(parts.tokens, parts.credentials, logger, parts.isSessionToken, addressOf, turns),
    pass("rights"),
    ownWrites(parts.replicas),
    unread.bound,
    countUse(usage),
    negotiateStream(served),
    negotiateMediaType,
    negotiateLocale(parts.locales),
    limitStreams(parts.live.streams, spending),
    spending.forBody,
    readGraphqlBody(settings.maxBodyBytes, spending, turns),
    persistedQueries(parts.storedOperations),
    fairTurns(turns),
    spending.forDocument,
    readOperation(served, parts.meter, thread),
    pass("reading"),
    countFields(usage, served),
    ...(settings.explorer ? [tellCost] : []),
    spending.forOperation,
    refuseOperation,
    noMutationByGet,
    refuseMissingScopes(served),
    nameOperation(usage.operations, served),
    pass("limits"),
    answerStreams(served, parts, identifier(parts.tokens, parts.credentials)),
    costlyTurns(costly),
    answerIntrospection(served, unread, thread),
    ...(parts.readText ? [answerReads(served, parts.readText, unread)] : []),
    ...(parts.sendTogether && parts.readRows
      ? [
          answerMutations(
            served,
            mutationAnswerer(parts.sendTogether, parts.readRows),
            unread,
            parts.replicas,
          ),
        ]
      : []),
    executeOperation(served, unread),
  ];
}
