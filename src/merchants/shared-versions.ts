import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { readCatalog } from "../../plugins/index.ts";
import { listActiveVersions, versionBuilder } from "../process/build-versions.ts";
import type { BuildOptions, OwnVersionParts } from "../process/build-versions.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import { computeFingerprint } from "../versions/fingerprint.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";

/** The maximum number of cached states of migrations, and of cached builds of a version. */
const maxKept = { states: 6, builds: 3 };

/**
 * The versions of the API, built once for all merchants whose databases have the same migrations. While merchants are being
 * migrated, versions that the migration changes have two builds, and the others one.
 */
export class SharedVersions {
  readonly #versions: readonly Version[];
  readonly #build: ReturnType<typeof versionBuilder>;
  /** Versions by the state of the migrations. */
  readonly #byState = new LRUCache<string, Promise<ServedVersion[]>>({ max: maxKept.states });
  /** Builds by version and the fingerprint of its catalog. */
  readonly #builds: LRUCache<string, Promise<ServedVersion>>;
  /** The current build. Builds run one after the other, because each blocks the event loop. */
  #building: Promise<unknown> = Promise.resolve();

  constructor(options: BuildOptions) {
    this.#versions = listActiveVersions(options);
    this.#builds = new LRUCache({ max: maxKept.builds * Math.max(1, this.#versions.length) });
    this.#build = versionBuilder(options);
  }

  /**
   * Returns the versions for a merchant.
   *
   * @param state the state of its database's migrations. If it is unknown, the catalog is read
   */
  async for(state: string, { pgService, mutationChecks }: OwnVersionParts): Promise<ServedVersion[]> {
    const { adaptor, adaptorSettings } = pgService;
    const withPgClient = await adaptor.createWithPgClient(adaptorSettings);
    const own = { withPgClient, mutationChecks };
    return (await this.#findBuilds(state, pgService)).map((version) => bindVersion(version, own));
  }

  async #findBuilds(
    state: string,
    pgService: GraphileConfig.PgServiceConfiguration,
  ): Promise<ServedVersion[]> {
    const found = this.#byState.get(state) ?? this.#buildAll(pgService);
    this.#byState.set(state, found);
    let isComplete = false;
    try {
      const served = await found;
      isComplete = served.every(({ failure }) => failure() === null);
      return served;
    } finally {
      // The next merchant tries again
      if (!isComplete && this.#byState.peek(state) === found) this.#byState.delete(state);
    }
  }

  async #buildAll(pgService: GraphileConfig.PgServiceConfiguration): Promise<ServedVersion[]> {
    const served: ServedVersion[] = [];
    for (const version of this.#versions) {
      const catalog = await readCatalog(pgService, version.schemaName);
      const key = `${version.slug} ${computeFingerprint(catalog)}`;
      const build = this.#builds.get(key) ?? this.#buildInTurn(version, catalog);
      this.#builds.set(key, build);
      const built = await build;
      if (built.failure() !== null) this.#builds.delete(key);
      served.push(built);
    }
    return served;
  }

  #buildInTurn(version: Version, catalog: string): Promise<ServedVersion> {
    const build = this.#building.then(() => this.#build(version, createRefusingService(), {}, catalog));
    this.#building = build.catch(() => {});
    return build;
  }
}

/**
 * Creates a version for one merchant. It was built with connections that refuse all work, so that nothing can run without
 * the merchant's connections.
 */
const bindVersion = (
  shared: ServedVersion,
  { withPgClient, mutationChecks: checks }: { withPgClient: WithClients; mutationChecks: MutationChecks },
): ServedVersion => ({
  ...shared,
  withPgClient,
  writing: { ...shared.writing, checks },
  // Shared versions never change: a new state of migrations has its own
  reload: () => Promise.resolve(false),
  prepare: () => Promise.resolve(null),
});

/** Connections that refuse all work: a plan without its merchant's connections must fail, and not read another's data. */
function createRefusingService(): GraphileConfig.PgServiceConfiguration {
  const refuse = () => {
    throw new Error("A plan was run without the connections of its merchant.");
  };
  const service = makePgService({ pool: noPool, pubsub: false });
  return { ...service, adaptor: { makePgService, createWithPgClient: () => refuse } };
}

const noPool = {
  connect: () => Promise.reject(new Error("Shared versions have no connections.")),
  query: () => Promise.reject(new Error("Shared versions have no connections.")),
  on: () => noPool,
} as unknown as Pool;
