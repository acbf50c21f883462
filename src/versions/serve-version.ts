import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { GraphQLSchema } from "postgraphile/graphql";
import { createPreset, readCatalog } from "../../plugins/index.ts";
import type { PresetOptions } from "../../plugins/index.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import { completed } from "../errors/client-errors.ts";
import { apiError, isApiError } from "../errors/api-error.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import type { DocumentCache } from "../graphql/document-cache.ts";
import { Documents } from "../graphql/documents.ts";
import { builtSchema } from "./built-schema.ts";
import { explorerPage } from "./explorer-page.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { GraphqlServer } from "./graphql-server.ts";
import type { Handler } from "./graphql-server.ts";
import { ownPartsOf } from "./own-parts.ts";
import { contextOf } from "./request-context.ts";
import type { ForMutations, PassedRequest } from "./request-context.ts";
import { pathOf } from "./versions.ts";
import type { Version } from "./versions.ts";

/** A version of the API, ready to answer. */
export interface ServedVersion {
  version: Version;
  /** Runs the operation of a request that has passed all other middlewares; in development also serves its explorer. */
  handler: Handler;
  /** Why its schema could not be built; null when it was. */
  failure(): Error | null;
  /**
   * Its present schema, the way to execute it, and its documents.
   *
   * @throws SERVICE_UNAVAILABLE when it could not be built
   */
  current(): { schema: GraphQLSchema; resolvedPreset: GraphileConfig.ResolvedPreset; documents: Documents };
  /**
   * Builds the GraphQL schema again, if the database has changed it. The old one answers until then, and if that fails.
   *
   * @returns whether it has
   * @throws the reason why it could not be built
   */
  reload(): Promise<boolean>;
  /**
   * Builds the GraphQL schema from what the catalog will have about it.
   *
   * @param catalog see `readCatalog`
   * @returns what puts it in the place of the one that answers; null when that is the same
   * @throws what kept it from being built
   */
  prepare(catalog: string): Promise<(() => void) | null>;
  /**
   * Calls a function each time that another schema answers.
   *
   * @returns ends that
   */
  onChange(listener: () => void): () => void;
  /** The connections of its requests; undefined for those that it was built with. */
  withPgClient?: WithClients;
  /** What applies to all of its mutations. */
  writing: { timeoutMs: number; settings: Readonly<Record<string, string>>; checks: MutationChecks };
  close(): Promise<void>;
}

export interface ServeVersionOptions extends ForMutations {
  pgService: GraphileConfig.PgServiceConfiguration;
  /** What the catalog has about it, if that has been read; it isn't read again then. */
  catalog?: string;
  /** Reads it the first time, where that needn't be from the database. For tests. */
  firstCatalog?: typeof readCatalog | undefined;
  /** Whether reads may become one statement, see src/reads. */
  fastReads: boolean;
  logger: Logger;
  /** Caches the documents of all versions. */
  documentCache: DocumentCache;
  /** Returns what the middlewares have found out about a request. */
  requestOf(response: ServerResponse): PassedRequest;
  /** Path of this version's explorer; null for none. */
  explorerPath: string | null;
}

/** Builds the GraphQL schema of a version and a Grafserv server for it. When that fails, `failure` says why. */
export async function serveVersion(version: Version, options: ServeVersionOptions): Promise<ServedVersion> {
  const make = async (catalog: string, fingerprint: string) => {
    const preset = presetOf(version, options, catalog);
    const { schema, resolvedPreset } = await builtSchema(preset, kindOf(version, options), fingerprint);
    extend(schema, version);
    return { preset, schema, resolvedPreset, documents: new Documents(schema, options.documentCache) };
  };
  let current: Awaited<ReturnType<typeof make>> | null = null;
  let builtFrom = "";
  const changes = new EventEmitter().setMaxListeners(0);
  let failure: Error | null = null;
  let server: GraphqlServer | null = null;
  let handle: Handler = (_request, _response, next) => next();
  let read = options.firstCatalog ?? readCatalog;
  const prepare = async (catalog: string) => {
    const fingerprint = fingerprintOf(catalog);
    if (current !== null && fingerprint === builtFrom) return null;
    const made = await make(catalog, fingerprint);
    const newServer = server === null ? new GraphqlServer(made) : null;
    await newServer?.ready();
    return () => {
      if (newServer !== null) {
        handle = newServer.handler;
        server = newServer;
      } else server!.setSchema(made.schema);
      current = made;
      builtFrom = fingerprint;
      failure = null;
      changes.emit("change");
    };
  };
  const reload = async () => {
    try {
      const use = await prepare(options.catalog ?? (await read(options.pgService, version.schemaName)));
      use?.();
      return use !== null;
    } catch (error) {
      if (current === null) failure = error as Error;
      throw error;
    }
  };
  await reload().catch(() => {});
  read = readCatalog;
  return {
    version,
    handler: (request, response, next) => handle(request, response, next),
    failure: () => failure,
    current: () => current ?? refuseFor(version),
    reload,
    prepare,
    onChange(listener) {
      changes.on("change", listener);
      return () => void changes.off("change", listener);
    },
    writing: writingOf(options),
    close: async () => server?.release(),
  };
}

/** All that decides about its schema, except the database. */
const kindOf = ({ slug, schemaName }: Version, { fastReads }: ServeVersionOptions): string =>
  `${slug} ${schemaName} ${fastReads}`;

function refuseFor({ slug }: Version): never {
  throw apiError("SERVICE_UNAVAILABLE", `The version ${slug} is not available now.`);
}

const writingOf = ({
  mutationTimeoutMs,
  mutationSettings = {},
  mutationChecks = {},
}: ServeVersionOptions) => ({
  timeoutMs: mutationTimeoutMs,
  settings: mutationSettings,
  checks: mutationChecks,
});

/** How a version is built, and how it answers requests. */
function presetOf(
  version: Version,
  { pgService, fastReads, logger, explorerPath, requestOf, ...forMutations }: ServeVersionOptions,
  catalog: string,
): GraphileConfig.Preset {
  // `unstable` shows developers how it answers
  const onRead: PresetOptions["onRead"] = (executor, { requestContext }) => {
    if (version.kind === "floating") requestContext?.node?.res.setHeader("x-read-by", executor);
  };
  const passed = ({ node }: Partial<Grafast.RequestContext>) => requestOf(node!.res);
  const ownParts = ({ node }: Partial<Grafast.RequestContext>) => ownPartsOf(node!.res);
  const report = {
    logger,
    requestOf(context: Partial<Grafast.RequestContext>) {
      const { requestId, document, extensions, noteError, use } = passed(context);
      const logged = { ...use?.logged, ...ownParts(context)?.logged };
      return { requestId, document, extensions, noteError, logged };
    },
  };
  const { schemaName } = version;
  const read = () => Promise.resolve(catalog);
  return {
    extends: [createPreset({ pgService, schemaName, catalog: read, fastReads, onRead, report })],
    grafast: {
      explain: false,
      context: (request) => request.inside ?? contextOf(passed(request), forMutations, ownParts(request)),
    },
    ruru: explorerPath === null ? {} : explorerPage(version.slug, explorerPath, pathOf(version)),
    grafserv: {
      graphqlPath: pathOf(version),
      graphiql: explorerPath !== null,
      graphiqlPath: explorerPath ?? "",
      graphiqlOnGraphQLGET: false,
      websockets: false,
      outputDataAsString: true,
      // All errors here are ours already (plugins/report-errors.ts). This masks any other one.
      maskError: (error) =>
        isApiError(error)
          ? error
          : completed(apiError("INTERNAL_SERVER_ERROR", "Something went wrong on our side."), ""),
    },
  };
}

/** Operations whose plans Grafast caches per version, and plans of each. A plan keeps its document, too. */
const maxOperationPlans = { operationsCacheMaxLength: 50, operationOperationPlansCacheMaxLength: 10 };

function extend({ extensions }: GraphQLSchema, { slug }: Version): void {
  Object.assign(extensions, { version: slug, grafast: { ...extensions.grafast, ...maxOperationPlans } });
}
