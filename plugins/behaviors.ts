import { perObject, remembered } from "../src/lib/remembered.ts";

/**
 * Results that the library computes from the behaviors of views, columns and relations: texts such as `-* +connection`.
 */
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

/** Results that have been computed while one schema is built. */
class Known {
  /** By the type of an entity of two parts, such as a view and the name of a column, and by both. */
  readonly ofParts = new Map<string, Map<unknown, Map<unknown, Text>>>();
  readonly matches = new Map<string, Map<string, boolean | undefined>>();
  readonly applied = new Map<string, Text>();
  readonly parsed = new Map<string, unknown>();
}

const remembering = new WeakSet<object>();

/**
 * Makes the library cache what it parses from behaviors. It parses the same few texts again for every question, which
 * takes more than half of the time to build a schema. Inside of graphile-build 5.1.1: docs/internals/upstream.md.
 */
export const BehaviorsPlugin: GraphileConfig.Plugin = {
  name: "BehaviorsPlugin",
  description: "Remembers what the library reads out of behaviors",
  schema: {
    hooks: {
      init(input, { behavior }) {
        // The instance is frozen
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
        // The library looks for the entity among all others, one by one
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
