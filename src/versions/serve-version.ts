import { EventEmitter } from "node:events";
import type { GraphQLSchema } from "postgraphile/graphql";
import { createPreset, readCatalog } from "../../plugins/index.ts";
import { apiError } from "../errors/api-error.ts";
import type { NewSecret } from "../graphql/context.ts";
import type { DocumentCache } from "../graphql/document-cache.ts";
import { Documents } from "../graphql/documents.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import { builtSchema } from "./built-schema.ts";
import { computeFingerprint } from "./fingerprint.ts";
import type { Version } from "./versions.ts";

/** Options of all mutations of a version. */
export interface MutationOptions {
  /** Longest time that Postgres may work on a mutation, in milliseconds. */
  timeoutMs: number;
  /** Database settings for rules about writing. */
  settings: Readonly<Record<string, string>>;
  /** Checks of mutations that can't be written in SQL. */
  checks: MutationChecks;
  /** Makes a secret for a mutation that shows one. */
  newSecret: () => NewSecret;
}

/** A version of the API, ready to answer. */
export interface ServedVersion {
  version: Version;
  /** Why its schema could not be built; null when it was. */
  failure(): Error | null;
  /**
   * Its current schema, the preset to execute it with, and its documents.
   *
   * @throws SERVICE_UNAVAILABLE when it could not be built
   */
  current(): { schema: GraphQLSchema; resolvedPreset: GraphileConfig.ResolvedPreset; documents: Documents };
  /**
   * Rebuilds the GraphQL schema, if the database has changed it. The old one is used until then, and if that fails.
   *
   * @returns whether it has changed
   * @throws the reason why it could not be built
   */
  reload(): Promise<boolean>;
  /**
   * Builds the GraphQL schema from the catalog as it will be.
   *
   * @param catalog see `readCatalog`
   * @returns a function that puts it in the place of the current one; null if they are the same
   * @throws the reason why it couldn't be built
   */
  prepare(catalog: string): Promise<(() => void) | null>;
  /**
   * Calls a function each time that another schema is put in place.
   *
   * @returns a function that ends this
   */
  onChange(listener: () => void): () => void;
  /** The connections of its requests; by default, the ones that it was built with. */
  withPgClient?: WithClients;
  writing: MutationOptions;
}

export interface ServeVersionOptions {
  pgService: GraphileConfig.PgServiceConfiguration;
  /** The version's catalog, if it has been read; it isn't read again then. */
  catalog?: string | undefined;
  /** Reads the catalog the first time, not necessarily from the database. For tests. */
  firstCatalog?: typeof readCatalog | undefined;
  /** Whether reads may become one statement, see src/reads. */
  fastReads: boolean;
  /** Caches the documents of all versions. */
  documentCache: DocumentCache;
  writing: MutationOptions;
}

/** Builds the GraphQL schema of a version. When that fails, `failure` says why. */
export async function serveVersion(version: Version, options: ServeVersionOptions): Promise<ServedVersion> {
  const make = async (catalog: string, fingerprint: string) => {
    const { pgService, fastReads, documentCache } = options;
    const { slug, schemaName } = version;
    const preset = {
      extends: [createPreset({ pgService, schemaName, catalog: () => Promise.resolve(catalog), fastReads })],
      grafast: { explain: false },
    };
    // Everything that the schema depends on, except the catalog
    const kind = `${slug} ${schemaName} ${fastReads}`;
    const { schema, resolvedPreset } = await builtSchema(preset, kind, fingerprint);
    extend(schema, version);
    return { schema, resolvedPreset, documents: new Documents(schema, documentCache) };
  };
  let current: Awaited<ReturnType<typeof make>> | null = null;
  let builtFrom = "";
  const changes = new EventEmitter().setMaxListeners(0);
  let failure: Error | null = null;
  let read = options.firstCatalog ?? readCatalog;
  const prepare = async (catalog: string) => {
    const fingerprint = computeFingerprint(catalog);
    if (current !== null && fingerprint === builtFrom) return null;
    const made = await make(catalog, fingerprint);
    return () => {
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
    failure: () => failure,
    current: () => current ?? refuseFor(version),
    reload,
    prepare,
    onChange(listener) {
      changes.on("change", listener);
      return () => void changes.off("change", listener);
    },
    writing: options.writing,
  };
}

function refuseFor({ slug }: Version): never {
  throw apiError("SERVICE_UNAVAILABLE", `The version ${slug} is not available now.`);
}

/** Maximum operations whose plans Grafast caches per version, and plans of each. A plan keeps its document in memory, too. */
const maxOperationPlans = { operationsCacheMaxLength: 50, operationOperationPlansCacheMaxLength: 10 };

function extend({ extensions }: GraphQLSchema, { slug }: Version): void {
  Object.assign(extensions, { version: slug, grafast: { ...extensions.grafast, ...maxOperationPlans } });
}
