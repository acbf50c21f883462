import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { makePgService } from "postgraphile/adaptors/pg";
import { readCatalog } from "../../plugins/index.ts";
import { livingOf, versionBuilder } from "../process/build-versions.ts";
import type { BuildOptions, OwnOfVersions } from "../process/build-versions.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";
import type { WithClients } from "../postgres/pg-service.ts";
import { fingerprintOf } from "../versions/fingerprint.ts";
import type { ServedVersion } from "../versions/serve-version.ts";
import type { Version } from "../versions/versions.ts";

/** States of migrations, and builds of a version, that are kept. */
const maxKept = { states: 6, builds: 3 };

/**
 * The versions of the API, built once for all merchants whose databases have the same migrations. While half of them are
 * migrated there are two builds of the versions that the migration changes, and one of the others.
 */
export class SharedVersions {
  readonly #versions: readonly Version[];
  readonly #build: ReturnType<typeof versionBuilder>;
  /** By the state of the migrations. */
  readonly #byState = new LRUCache<string, Promise<ServedVersion[]>>({ max: maxKept.states });
  /** By version and fingerprint of what the catalog has about it. */
  readonly #builds: LRUCache<string, Promise<ServedVersion>>;
  /** Builds one after the other, because each holds the event loop. */
  #building: Promise<unknown> = Promise.resolve();

  constructor(options: BuildOptions) {
    this.#versions = livingOf(options);
    this.#builds = new LRUCache({ max: maxKept.builds * Math.max(1, this.#versions.length) });
    this.#build = versionBuilder(options);
  }

  /**
   * The versions for a merchant.
   *
   * @param state of the migrations of its database, whose catalog is read if they aren't known yet
   */
  async for(state: string, { pgService, mutationChecks }: OwnOfVersions): Promise<ServedVersion[]> {
    const { adaptor, adaptorSettings } = pgService;
    const withPgClient = await adaptor.createWithPgClient(adaptorSettings);
    const own = { withPgClient, mutationChecks };
    return (await this.#of(state, pgService)).map((version) => versionFor(version, own));
  }

  async #of(state: string, pgService: GraphileConfig.PgServiceConfiguration): Promise<ServedVersion[]> {
    const found = this.#byState.get(state) ?? this.#make(pgService);
    this.#byState.set(state, found);
    let isComplete = false;
    try {
      const served = await found;
      isComplete = served.every(({ failure }) => failure() === null);
      return served;
    } finally {
      // The next one tries again
      if (!isComplete && this.#byState.peek(state) === found) this.#byState.delete(state);
    }
  }

  async #make(pgService: GraphileConfig.PgServiceConfiguration): Promise<ServedVersion[]> {
    const served: ServedVersion[] = [];
    for (const version of this.#versions) {
      const catalog = await readCatalog(pgService, version.schemaName);
      const key = `${version.slug} ${fingerprintOf(catalog)}`;
      const build = this.#builds.get(key) ?? this.#buildInTurn(version, catalog);
      this.#builds.set(key, build);
      const built = await build;
      if (built.failure() !== null) this.#builds.delete(key);
      served.push(built);
    }
    return served;
  }

  #buildInTurn(version: Version, catalog: string): Promise<ServedVersion> {
    const build = this.#building.then(() => this.#build(version, refusingService(), {}, catalog));
    this.#building = build.catch(() => {});
    return build;
  }
}

/**
 * Creates a version for one merchant. It was built with connections that refuse all work, so that nothing can run without
 * the merchant's connections.
 */
const versionFor = (
  shared: ServedVersion,
  { withPgClient, mutationChecks: checks }: { withPgClient: WithClients; mutationChecks: MutationChecks },
): ServedVersion => ({
  ...shared,
  withPgClient,
  writing: { ...shared.writing, checks },
  // Another build is another version
  reload: () => Promise.resolve(false),
  prepare: () => Promise.resolve(null),
});

/** Connections that refuse all work: a plan without its merchant's connections must fail, and not read another's data. */
function refusingService(): GraphileConfig.PgServiceConfiguration {
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
