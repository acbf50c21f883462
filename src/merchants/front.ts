import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import express from "express";
import { OperationTypeNode } from "postgraphile/graphql";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { RateLimits } from "../auth/rate-limits/rate-limits.ts";
import { createProxyTrust } from "../http/address-of.ts";
import { sendJson } from "../http/answers.ts";
import { crossOrigin } from "../http/middleware/access/cross-origin.ts";
import { eventsEndpoint } from "../http/middleware/reading/events-endpoint.ts";
import { isGraphqlUrl, versionFinder } from "../http/middleware/access/find-version.ts";
import { getOrPost } from "../http/middleware/reading/get-or-post.ts";
import {
  requireOneHost,
  requestId,
  securityHeaders,
  unexpectedError,
} from "../http/middleware/every-request.ts";
import { refuseToken } from "../http/middleware/access/require-token.ts";
import { tokenEndpoint } from "../http/oauth/token-endpoint.ts";
import { Refusals } from "../http/middleware/observing/refusals.ts";
import { TokenRefusal } from "../auth/access-token.ts";
import { useExpress } from "../http/pages.ts";
import { Pipeline } from "../http/pipeline.ts";
import type { Request, Response } from "../http/pipeline.ts";
import type { Readiness } from "../lib/readiness.ts";
import type { Version } from "../versions/versions.ts";
import type { Settings } from "../process/settings.ts";
import type { Directory } from "./directory.ts";
import type { Merchant } from "./merchant.ts";
import type { OpenMerchant } from "./open-merchant.ts";
import type { OpenMerchants } from "./open-merchants.ts";
import { classifyRequest, findMerchantByClient } from "./shared-host.ts";

/**
 * The path of a merchant's API at any host. Only the API is available there: pages of several merchants on one host would
 * share cookies.
 */
const pathPattern = /^\/m\/([a-z][a-z0-9-]*)(\/api\/.*)$/;
const absolute = /^https?:\/\/([^/?#]*)(.*)$/i;

/** The reason why no merchant handles a request. */
type Refusal = "unknown" | "unknownToken" | "unknownClient" | "suspended" | "unavailable";

export interface FrontOptions {
  logger: Logger;
  readiness: Readiness;
  /** Settings, including the hosts that several merchants share. */
  settings: Pick<Settings, "sharedHosts" | "corsOrigins" | "trustProxy" | "tokenRequestsPerMinute">;
  /** Versions that merchants serve. */
  versions: readonly Version[];
  /** Called after a request that may have written something. */
  onWritten: (merchant: string) => void;
}

/** Passes each request to its merchant: by its path, or else its host, or its client at a shared host. */
export function createRouter(
  directory: Directory,
  merchants: OpenMerchants,
  options: FrontOptions,
): RequestListener {
  const { logger, readiness, settings, onWritten } = options;
  const refuse = createRefusals(options);
  const health = answerHealth(readiness, logger);
  const shared = new Set(settings.sharedHosts);
  return (request, response) => {
    const found = findMerchant(directory, request, shared);
    if (!found)
      return isHealthUrl(request.url!) ? health(request, response) : refuse.unknown(request, response);
    const merchant = found === "shared" ? findMerchantByClient(directory, request) : found;
    // Anyone may name any merchant at a shared host, so a suspended one looks like an unknown one
    if (!merchant || (found === "shared" && merchant.state === "suspended"))
      return refuse[sharedHostRefusals[classifyRequest(request)]](request, response);
    if (merchant.state === "suspended") return refuse.suspended(request, response);
    const answer = ({ app }: OpenMerchant) =>
      new Promise<void>((resolve) => {
        if (response.closed) return resolve();
        response.once("close", () => {
          resolve();
          if (mayHaveWritten(request, response)) onWritten(merchant.name);
        });
        app.listener(request, response);
      });
    const purpose = classifyRequest(request) === "api" ? "operation" : "other";
    merchants.use(merchant, purpose, answer).catch(() => refuse.unavailable(request, response));
  };
}

/**
 * Whether a request may have caused background work: a mutation, or a request that isn't GraphQL, such as a form or an
 * upload. Token requests cause none.
 */
function mayHaveWritten(request: IncomingMessage, response: ServerResponse): boolean {
  const { method } = request;
  if (method === "GET" || method === "HEAD" || response.statusCode >= 400) return false;
  if (classifyRequest(request) === "token") return false;
  const { operation } = (response as Partial<Response>).locals ?? {};
  const definitions = operation ? (operation.document?.definitions ?? []) : [null];
  return definitions.some(
    (one) => one === null || ("operation" in one && one.operation === OperationTypeNode.MUTATION),
  );
}

/** Refusals at a shared host, equal to a merchant's refusal of an unknown client. */
const sharedHostRefusals = { token: "unknownClient", api: "unknownToken", other: "unknown" } as const;

/** Finds the merchant of a request and rewrites its path to the merchant's API; or tells whether the host is shared. */
function findMerchant(
  directory: Directory,
  request: IncomingMessage,
  shared: ReadonlySet<string>,
): Merchant | "shared" | undefined {
  const [, target, rest] = absolute.exec(request.url!) ?? [];
  const [, name, path] = pathPattern.exec(rest ?? request.url!) ?? [];
  if (name !== undefined) {
    const named = directory.findByName(name);
    if (!named?.hasPath) return undefined;
    request.url = path!;
    return named;
  }
  const host = request.headers.host ?? "";
  // A proxy may have used the other host
  if (target !== undefined && target.toLowerCase() !== host.toLowerCase()) return undefined;
  const bare = host.toLowerCase().replace(/\.?(:\d*)?$/, "");
  return (
    directory.findByHost(bare) ?? (shared.has(bare) && !isHealthUrl(request.url!) ? "shared" : undefined)
  );
}

const isHealthUrl = (url: string): boolean => /^\/(livez|readyz|healthz)($|\?)/.test(url);

/** Responds to health checks of load balancers, which use the address of the process. */
function answerHealth(readiness: Readiness, logger: Logger): RequestListener {
  return new Pipeline()
    .use(requestId(logger))
    .use(async (request, response) => {
      const obstacles = request.url!.startsWith("/livez") ? [] : await readiness.findObstacles();
      response.setHeader("cache-control", "no-store");
      if (obstacles.length === 0) return sendJson(response, 200, { status: "ok" });
      response.setHeader("retry-after", "1");
      sendJson(response, 503, { status: "unavailable", obstacles });
    })
    .listener((_error, _request, response) => void response.destroy());
}

/** Creates the responses that refuse requests. They name no merchant and reveal nothing about others. */
function createRefusals(options: FrontOptions): Record<Refusal, RequestListener> {
  const { logger, settings, versions } = options;
  const first = new Pipeline()
    .use(requestId(logger))
    .use(securityHeaders)
    .use(requireOneHost)
    .use(crossOrigin(settings.corsOrigins));
  const answer = (send: (response: Response, request: Request) => void, before = first) =>
    before.use((request, response) => send(response, request)).listener(unexpectedError(logger));
  return {
    unknown: answer((response) =>
      sendError(
        response,
        421,
        "UNKNOWN_HOST",
        "Unknown host",
        "No API is served at this address. Check the host name.",
      ),
    ),
    unknownToken: answer(
      (response, request) =>
        refuseToken(request, response, new TokenRefusal("invalid", "The access token is not valid.")),
      beforeToken(first, versions),
    ),
    unknownClient: serveUnknownClients(options, first),
    suspended: answer((response) =>
      sendError(response, 403, "SUSPENDED", "Suspended", "This API is suspended. Contact its operator."),
    ),
    unavailable: answer((response) => {
      response.setHeader("retry-after", "2");
      const detail = "This API can't be served at the moment. Nothing was done. Try again later.";
      sendError(response, 503, "UNAVAILABLE", "Unavailable", detail);
    }),
  };
}

/** The checks of a merchant before the token is checked. */
function beforeToken(first: Pipeline, versions: readonly Version[]): Pipeline {
  const find = versionFinder(versions, Date.now, { isUnavailable: () => false });
  const head = versions.find(({ kind }) => kind === "floating");
  return first.useIfPresent(head ? eventsEndpoint(head) : null).use((request, response, next) => {
    if (!isGraphqlUrl(request.url!)) return next();
    if (find(request, response)) return getOrPost(request, response, next);
  });
}

/** Returns a token endpoint that knows no client, and so refuses all. */
function serveUnknownClients({ logger, settings }: FrontOptions, first: Pipeline): RequestListener {
  const app = express().disable("x-powered-by").disable("etag");
  app.set("trust proxy", createProxyTrust(settings.trustProxy));
  const known = { rates: new RateLimits(null, logger), refusals: new Refusals(new Registry(), logger) };
  const perMinute = settings.tokenRequestsPerMinute;
  app.use(tokenEndpoint({ ...known, merchant: null, logger, perMinute }));
  return first.use(useExpress(app)).listener(unexpectedError(logger));
}

function sendError(response: Response, status: number, code: string, title: string, detail: string): void {
  response.setHeader("cache-control", "no-store");
  const meta = { requestId: response.locals.requestId };
  const error = { status: String(status), code: `SERVICE_GRAPHQL__${code}`, title, detail, meta };
  sendJson(response, status, { errors: [error] });
}
