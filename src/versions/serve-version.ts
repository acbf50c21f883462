import type { Express, RequestHandler } from "express";
import { Router } from "express";
import type { Logger } from "pino";
import { makeSchema } from "postgraphile";
import type { GraphQLSchema } from "postgraphile/graphql";
import { grafserv } from "postgraphile/grafserv/express/v4";
import { createPreset } from "../../plugins/index.ts";
import type { ServiceContext } from "../../plugins/context.ts";
import type { MutationChecks } from "../../plugins/mutation-check.ts";
import type { OnRead } from "../../plugins/reads/index.ts";
import "../http/facts.ts";
import { completed } from "../http/client-errors.ts";
import { apiError, isApiError } from "../errors.ts";
import { Documents } from "../operations/documents.ts";
import { contextFor } from "./context.ts";
import { makeReportErrorsPlugin } from "./report-errors.ts";
import { TextAnswersPlugin } from "./text-answers.ts";
import { pathOf } from "./versions.ts";
import type { Version } from "./versions.ts";

type RuruClientConfig = NonNullable<NonNullable<GraphileConfig.Preset["ruru"]>["clientConfig"]>;

/** A version of the API, ready to answer. */
export interface ServedVersion {
  version: Version;
  /** Runs the operation of a request that has passed all other stations; in development also its explorer. */
  handler: RequestHandler;
  /** Its schema by now, with how it is executed, and the reader of documents for it. */
  current(): { schema: GraphQLSchema; resolvedPreset: GraphileConfig.ResolvedPreset; documents: Documents };
  /** Builds the GraphQL schema anew from the database. The old one answers until then, and when that fails. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface ServeOptions {
  pgService: GraphileConfig.PgServiceConfiguration;
  /** Whether reads take the short way, see plugins/reads. */
  fastReads: boolean;
  logger: Logger;
  /** How long Postgres works on a mutation at most, in milliseconds. */
  mutationTimeout: number;
  /** Where the explorer of this version is; null for none. */
  explorerPath: string | null;
  /** Checks of mutations that can't be written in SQL. */
  mutationChecks?: MutationChecks;
  /** Settings of the database that rules about what is written read. */
  mutationSettings?: Readonly<Record<string, string>>;
}

/**
 * Builds the GraphQL schema of a version and a Grafserv server for it.
 *
 * @throws when the database doesn't hold the version
 */
export async function serveVersion(
  version: Version,
  { pgService, fastReads, logger, explorerPath, ...forMutations }: ServeOptions,
): Promise<ServedVersion> {
  // The head tells those who develop against it how they are answered
  const onRead: OnRead = (way, { requestContext }) => {
    if (version.kind === "floating") requestContext?.expressv4?.res.setHeader("x-read-by", way);
  };
  const preset: GraphileConfig.Preset = {
    extends: [createPreset({ pgService, schemaName: version.schemaName, fastReads, onRead })],
    plugins: [makeReportErrorsPlugin(logger), TextAnswersPlugin],
    grafast: {
      explain: false,
      context: ({ expressv4, inside }) =>
        inside ?? contextOf(expressv4!.res.locals as Express.Locals, forMutations),
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
      outputDataAsString: true,
      // By then all errors are ours (report-errors.ts). Should one come another way, it must not get out.
      maskError: (error) =>
        isApiError(error)
          ? error
          : completed(apiError("INTERNAL_SERVER_ERROR", "Something went wrong on our side."), ""),
    },
  };
  const make = async () => {
    const { schema, resolvedPreset } = await makeSchema(preset);
    return { schema, resolvedPreset, documents: new Documents(schema) };
  };
  let current = await make();
  const server = grafserv({ preset, schema: current.schema });
  await server.ready();
  const router = Router();
  // All that it does with the Express app is `use`, as without web sockets there is no server to attach to.
  await server.addTo(router as unknown as Express, null, false);
  return {
    version,
    handler: router,
    current: () => current,
    async reload() {
      current = await make();
      server.setSchema(current.schema);
    },
    close: () => server.release(),
  };
}

type ForMutations = Pick<ServeOptions, "mutationTimeout" | "mutationChecks" | "mutationSettings">;

function contextOf(
  { requestId, caller, locale, readFailure }: Express.Locals,
  { mutationTimeout, mutationChecks, mutationSettings }: ForMutations,
): ServiceContext {
  const context = contextFor(caller!, requestId, locale);
  const pgSettings = { ...context.pgSettings, ...mutationSettings };
  return { ...context, readFailure, mutationTimeout, mutationChecks, pgSettings };
}
