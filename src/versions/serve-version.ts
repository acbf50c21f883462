import type { Express, RequestHandler } from "express";
import { Router } from "express";
import type { Logger } from "pino";
import { makeSchema } from "postgraphile";
import { grafserv } from "postgraphile/grafserv/express/v4";
import { createPreset } from "../../plugins/index.ts";
import type { ServiceContext } from "../../plugins/context.ts";
import type { MutationChecks } from "../../plugins/mutation-check.ts";
import type { Caller } from "../auth/caller.ts";
import "../http/facts.ts";
import { completed } from "../http/client-errors.ts";
import { apiError, isApiError } from "../errors.ts";
import { Reader } from "./reader.ts";
import { makeReportErrorsPlugin } from "./report-errors.ts";
import { pathOf } from "./versions.ts";
import type { Version } from "./versions.ts";

type RuruClientConfig = NonNullable<NonNullable<GraphileConfig.Preset["ruru"]>["clientConfig"]>;

/** A version of the API, ready to answer. */
export interface ServedVersion {
  version: Version;
  /** Runs the operation of a request that has passed all other stations; in development also its explorer. */
  handler: RequestHandler;
  /** Runs queries of the service's own. */
  reader(): Reader;
  /** Builds the GraphQL schema anew from the database. The old one answers until then, and when that fails. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface ServeOptions {
  pgService: GraphileConfig.PgServiceConfiguration;
  logger: Logger;
  /** Where the explorer of this version is; null for none. */
  explorerPath: string | null;
  /** Checks of mutations that can't be written in SQL. */
  mutationChecks?: MutationChecks;
  /** Destinations of webhooks that are allowed beside those of the public internet, as the database reads them. */
  webhookAllow?: string;
}

/**
 * Builds the GraphQL schema of a version and a Grafserv server for it.
 *
 * @throws when the database doesn't hold the version
 */
export async function serveVersion(
  version: Version,
  { pgService, logger, explorerPath, mutationChecks = {}, webhookAllow = "" }: ServeOptions,
): Promise<ServedVersion> {
  const preset: GraphileConfig.Preset = {
    extends: [createPreset({ pgService, schemaName: version.schemaName })],
    plugins: [makeReportErrorsPlugin(logger)],
    grafast: {
      explain: false,
      context: ({ expressv4, inside }) =>
        inside ?? contextOf(expressv4!.res.locals as Express.Locals, mutationChecks, webhookAllow),
    },
    ruru: {
      // Its type wants every option, though none is needed.
      clientConfig: { defaultHeaders: '{ "Authorization": "Bearer <ACCESS_TOKEN>" }' } as RuruClientConfig,
    },
    grafserv: {
      graphqlPath: pathOf(version),
      graphiql: explorerPath !== null,
      graphiqlPath: explorerPath ?? "",
      graphiqlOnGraphQLGET: false,
      websockets: false,
      // By then all errors are ours (report-errors.ts). Should one come another way, it must not get out.
      maskError: (error) =>
        isApiError(error)
          ? error
          : completed(apiError("INTERNAL_SERVER_ERROR", "Something went wrong on our side."), ""),
    },
  };
  const { schema, resolvedPreset } = await makeSchema(preset);
  const server = grafserv({ preset, schema });
  let reader = new Reader(schema, resolvedPreset, logger);
  await server.ready();
  const router = Router();
  // All that it does with the Express app is `use`, as without web sockets there is no server to attach to.
  await server.addTo(router as unknown as Express, null, false);
  return {
    version,
    handler: router,
    reader: () => reader,
    async reload() {
      const { schema, resolvedPreset } = await makeSchema(preset);
      server.setSchema(schema);
      reader = new Reader(schema, resolvedPreset, logger);
    },
    close: () => server.release(),
  };
}

function contextOf(
  { requestId, caller, locale }: Express.Locals,
  mutationChecks: MutationChecks,
  webhookAllow: string,
): ServiceContext {
  const context = contextFor(caller!, requestId, locale);
  const pgSettings = { ...context.pgSettings, "service.webhook_allow": webhookAllow };
  return { ...context, mutationChecks, pgSettings };
}

/** What a caller may do, for the plans and for the database. */
export function contextFor(caller: Caller, requestId: string, locale: string | undefined): ServiceContext {
  const { scopes, scopeText, credentialId } = caller;
  return {
    scopes,
    requestId,
    credentialId,
    pgSettings: {
      role: "service_api",
      "service.scopes": scopeText,
      "service.locale": locale,
      "service.credential_id": credentialId,
      "service.request_id": requestId,
    },
  };
}
