import type { RequestListener } from "node:http";
import { EventLoopQueue } from "../lib/event-loop-queue.ts";
import { createMutationRunner } from "../mutations/answer.ts";
import { createAddressFinder, createProxyTrust } from "./address-of.ts";
import { crossOrigin } from "./middleware/access/cross-origin.ts";
import { findVersion, isGraphqlUrl, versionFinder } from "./middleware/access/find-version.ts";
import { requireMerchantPlan } from "./middleware/access/require-merchant-plan.ts";
import { createIdentify, requireToken } from "./middleware/access/require-token.ts";
import { answerIntrospection } from "./middleware/answering/answer-introspection.ts";
import { answerMutations } from "./middleware/answering/answer-mutations.ts";
import { answerReads } from "./middleware/answering/answer-reads.ts";
import { answerStreams } from "./middleware/answering/answer-streams.ts";
import { executeOperation } from "./middleware/answering/execute-operation.ts";
import {
  notFound,
  requireOneHost,
  requestId,
  securityHeaders,
  unexpectedError,
} from "./middleware/every-request.ts";
import { bulkUpload, bulkUploadPath, isUploadUrl } from "./middleware/files/bulk-upload.ts";
import { limitStreams } from "./middleware/limits/limit-streams.ts";
import { showCost } from "./middleware/limits/spend-points.ts";
import { createCostlyQueue, takeCostlyTurns, takeTurns } from "./middleware/limits/turns.ts";
import { countFields, countUse, nameOperation } from "./middleware/observing/count-use.ts";
import { noteStage, traceRequests, watchRequests } from "./middleware/observing/watch-requests.ts";
import { eventsEndpoint, isEventsUrl } from "./middleware/reading/events-endpoint.ts";
import { getOrPost, noMutationByGet } from "./middleware/reading/get-or-post.ts";
import { negotiateLocale } from "./middleware/reading/negotiate-locale.ts";
import { negotiateMediaType, negotiateStream } from "./middleware/reading/negotiate-media-type.ts";
import { readOwnWrites } from "./middleware/reading/own-writes.ts";
import { persistedQueries } from "./middleware/reading/persisted-queries.ts";
import { readGraphqlBody } from "./middleware/reading/read-graphql-body.ts";
import { readOperation, refuseMissingScopes, refuseOperation } from "./middleware/reading/read-operation.ts";
import { pages } from "./pages.ts";
import type { Parts } from "./parts.ts";
import { Pipeline } from "./pipeline.ts";
import type { Request } from "./pipeline.ts";

type FindAddress = (request: Request) => string;

/** The service's HTTP side: the middlewares, in the order in which requests pass them. */
export function createApp(parts: Parts): RequestListener {
  const { settings, logger } = parts;
  const addressOf = createAddressFinder(createProxyTrust(settings.trustProxy));
  const onError = unexpectedError(logger);
  const first = new Pipeline()
    .use(requestId(logger))
    .use(securityHeaders)
    .use(requireOneHost)
    .use(crossOrigin(settings.corsOrigins));
  const operations = buildOperationPipeline(first, parts, addressOf).use(notFound).listener(onError);
  // Created on demand: most merchants never get other requests
  let [uploads, others]: (RequestListener | undefined)[] = [];
  return (request, response) => {
    const url = request.url!;
    if (isGraphqlUrl(url) || isEventsUrl(url)) operations(request, response);
    else if (isUploadUrl(url))
      (uploads ??= buildUploadPipeline(first, parts, addressOf).use(notFound).listener(onError))(
        request,
        response,
      );
    else (others ??= first.use(pages(parts)).use(notFound).listener(onError))(request, response);
  };
}

/** Returns the pipeline of uploads. */
function buildUploadPipeline(first: Pipeline, parts: Parts, addressOf: FindAddress) {
  const { logger, tokens, credentials, tracing } = parts;
  return first
    .use(traceRequests(tracing, bulkUploadPath))
    .use(parts.refusals.watch(addressOf))
    .use(requireMerchantPlan(parts.merchantPlan, logger))
    .use(requireToken(tokens, credentials, logger, parts.isSessionToken, addressOf, new EventLoopQueue()))
    .use(bulkUpload(parts.bulk, parts.admission, parts.spending));
}

/** Returns the pipeline of requests to the GraphQL endpoint. */
function buildOperationPipeline(first: Pipeline, parts: Parts, addressOf: FindAddress) {
  const { settings, logger, versions, served, replicas, usage, spending, unread, thread } = parts;
  const { metrics, tracing, turns, tokens, credentials, sendTogether, readText, readRows } = parts;
  const { logRequests, slowMs } = settings;
  const head = versions.find(({ kind }) => kind === "floating");
  const costly = createCostlyQueue();
  metrics.addWaits("event loop", turns);
  metrics.addWaits("costly", costly);
  return first
    .useIfPresent(head ? eventsEndpoint(head) : null)
    .use(watchRequests({ logger, metrics, tracing, logRequests, slowMs }))
    .use(parts.refusals.watch(addressOf))
    .use(findVersion(versionFinder(versions, parts.now, parts.availability), served))
    .use(requireMerchantPlan(parts.merchantPlan, logger))
    .use(getOrPost)
    .use(requireToken(tokens, credentials, logger, parts.isSessionToken, addressOf, turns))
    .use(noteStage("rights"))
    .use(readOwnWrites(replicas))
    .use(unread.refuseBeyondLimit)
    .use(countUse(usage))
    .use(negotiateStream)
    .use(negotiateMediaType)
    .use(negotiateLocale(parts.locales))
    .use(limitStreams(parts.live.streams, spending))
    .use(spending.forBody)
    .use(readGraphqlBody(settings.maxBodyBytes, spending, turns))
    .use(persistedQueries(parts.storedOperations))
    .use(takeTurns(turns))
    .use(spending.forDocument)
    .use(readOperation(parts.meter, thread))
    .use(noteStage("reading"))
    .use(countFields(usage))
    .useIfPresent(settings.explorer ? showCost : null)
    .use(spending.forOperation)
    .use(refuseOperation)
    .use(noMutationByGet)
    .use(refuseMissingScopes)
    .use(nameOperation(usage.operations))
    .use(noteStage("limits"))
    .use(answerStreams(parts, createIdentify(tokens, credentials)))
    .use(takeCostlyTurns(costly))
    .use(answerIntrospection(unread, thread))
    .useIfPresent(readText && answerReads(readText, unread))
    .useIfPresent(
      sendTogether &&
        readRows &&
        answerMutations(createMutationRunner(sendTogether, readRows), unread, replicas),
    )
    .use(executeOperation(logger, unread));
}
