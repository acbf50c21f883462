import { perObject, remembered } from "../src/lib/remembered.ts";

/** The library's object that computes which features views, columns and relations have, from texts such as `-* +connection`. */
interface Behavior {
  behaviorEntities: Record<string, { listCache: Map<number, unknown[]> }>;
  entityMatches(this: Behavior, type: string, entity: unknown, filter: string): boolean | undefined;
  getBehaviorForEntity(this: Behavior, type: string, entity: unknown): Text;
  getPreferencesAppliedBehaviors(this: Behavior, type: string, inferred: Text, override: Text): Text;
  parseBehaviorString(this: Behavior, text: string): unknown;
}

interface Text {
  behaviorString: string;
}

/** Results computed while one schema is built. */
class Known {
  /** By the type of an entity with two parts, such as a view and a column's name, then by the first and second part. */
  readonly ofParts = new Map<string, Map<unknown, Map<unknown, Text>>>();
  readonly matches = new Map<string, Map<string, boolean | undefined>>();
  readonly applied = new Map<string, Text>();
  readonly parsed = new Map<string, unknown>();
}

const remembering = new WeakSet<object>();

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
        if (!remembering.has(library)) remember(library);
        remembering.add(library);
        return input;
      },
    },
  },
};

function remember(library: Behavior): void {
  const { entityMatches, getBehaviorForEntity, getPreferencesAppliedBehaviors, parseBehaviorString } =
    library;
  const knownOf = perObject<Behavior, Known>(() => new Known());
  library.entityMatches = function (type, entity, filter) {
    const { behaviorString: text } = this.getBehaviorForEntity(type, entity);
    const answers = remembered(
      knownOf(this).matches,
      `${type} ${filter}`,
      () => new Map<string, boolean | undefined>(),
    );
    return remembered(answers, text, () => entityMatches.call(this, type, entity, filter));
  };
  library.getBehaviorForEntity = function (type, entity) {
    if (!Array.isArray(entity) || entity.length !== 2) return getBehaviorForEntity.call(this, type, entity);
    const [whole, part] = entity as [unknown, unknown];
    const ofWhole = remembered(knownOf(this).ofParts, type, () => new Map<unknown, Map<unknown, Text>>());
    return remembered(
      remembered(ofWhole, whole, () => new Map<unknown, Text>()),
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
    return remembered(knownOf(this).applied, key, () =>
      getPreferencesAppliedBehaviors.call(this, type, inferred, override),
    );
  };
  library.parseBehaviorString = function (text) {
    return remembered(knownOf(this).parsed, text, () => parseBehaviorString.call(this, text));
  };
}
