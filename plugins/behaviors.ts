import { memoizeByObject, getOrMake } from "../src/lib/remembered.ts";

/** The library's object that computes which features views, columns and relations have, from texts such as `-* +connection`. */
interface Behavior {
  behaviorEntities: Record<string, { listCache: Map<number, unknown[]> }>;
  entityMatches(this: Behavior, type: string, entity: unknown, filter: string): boolean | undefined;
  getBehaviorForEntity(this: Behavior, type: string, entity: unknown): BehaviorText;
  getPreferencesAppliedBehaviors(
    this: Behavior,
    type: string,
    inferred: BehaviorText,
    override: BehaviorText,
  ): BehaviorText;
  parseBehaviorString(this: Behavior, text: string): unknown;
}

interface BehaviorText {
  behaviorString: string;
}

/** Results computed while one schema is built. */
class BehaviorCache {
  /** By the type of an entity with two parts, such as a view and a column's name, then by the first and second part. */
  readonly byParts = new Map<string, Map<unknown, Map<unknown, BehaviorText>>>();
  readonly matches = new Map<string, Map<string, boolean | undefined>>();
  readonly applied = new Map<string, BehaviorText>();
  readonly parsed = new Map<string, unknown>();
}

const patchedLibraries = new WeakSet<object>();

/**
 * Makes the library cache the behaviors that it parses. It parses the same few texts again for each lookup, which takes
 * more than half of the time to build a schema. Relies on internals of graphile-build 5.1.1: docs/internals/upstream.md.
 */
export const BehaviorsPlugin: GraphileConfig.Plugin = {
  name: "BehaviorsPlugin",
  description: "Caches the behaviors that the library parses",
  schema: {
    hooks: {
      init(input, { behavior }) {
        // The instance is frozen, so its prototype is patched
        const library = Object.getPrototypeOf(behavior) as Behavior;
        if (!patchedLibraries.has(library)) addCache(library);
        patchedLibraries.add(library);
        return input;
      },
    },
  },
};

function addCache(library: Behavior): void {
  const { entityMatches, getBehaviorForEntity, getPreferencesAppliedBehaviors, parseBehaviorString } =
    library;
  const cacheOf = memoizeByObject<Behavior, BehaviorCache>(() => new BehaviorCache());
  library.entityMatches = function (type, entity, filter) {
    const { behaviorString: text } = this.getBehaviorForEntity(type, entity);
    const answers = getOrMake(
      cacheOf(this).matches,
      `${type} ${filter}`,
      () => new Map<string, boolean | undefined>(),
    );
    return getOrMake(answers, text, () => entityMatches.call(this, type, entity, filter));
  };
  library.getBehaviorForEntity = function (type, entity) {
    if (!Array.isArray(entity) || entity.length !== 2) return getBehaviorForEntity.call(this, type, entity);
    const [whole, part] = entity as [unknown, unknown];
    const ofWhole = getOrMake(
      cacheOf(this).byParts,
      type,
      () => new Map<unknown, Map<unknown, BehaviorText>>(),
    );
    return getOrMake(
      getOrMake(ofWhole, whole, () => new Map<unknown, BehaviorText>()),
      part,
      () => {
        // The library would compare the entity with all earlier ones, one by one
        this.behaviorEntities[type]?.listCache.clear();
        return getBehaviorForEntity.call(this, type, entity);
      },
    );
  };
  library.getPreferencesAppliedBehaviors = function (type, inferred, override) {
    const key = [type, inferred.behaviorString, override.behaviorString].join("\n");
    return getOrMake(cacheOf(this).applied, key, () =>
      getPreferencesAppliedBehaviors.call(this, type, inferred, override),
    );
  };
  library.parseBehaviorString = function (text) {
    return getOrMake(cacheOf(this).parsed, text, () => parseBehaviorString.call(this, text));
  };
}
