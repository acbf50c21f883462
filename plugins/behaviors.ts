import type {} from "postgraphile";

/** What the library works out of the behaviors of views, columns and relations: texts such as `-* +connection`. */
interface Behavior {
  entityMatches(this: Behavior, type: string, entity: unknown, filter: string): boolean | undefined;
  getBehaviorForEntity(this: Behavior, type: string, entity: unknown): { behaviorString: string };
  getPreferencesAppliedBehaviors(this: Behavior, type: string, inferred: Text, override: Text): Text;
  parseBehaviorString(this: Behavior, text: string): unknown;
}

interface Text {
  behaviorString: string;
}

/** What has been worked out while one schema is built. */
class Known {
  readonly matches = new Map<string, Map<string, boolean | undefined>>();
  readonly applied = new Map<string, Text>();
  readonly parsed = new Map<string, unknown>();
}

const remembering = new WeakSet<object>();

/**
 * Has the library remember what it reads out of behaviors. It parses the same few texts again for every question, which
 * is more than half of the time that a schema takes to build.
 */
export const BehaviorsPlugin: GraphileConfig.Plugin = {
  name: "BehaviorsPlugin",
  description: "Remembers what the library reads out of behaviors",
  version: "1.0.0",
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
  const { entityMatches, getPreferencesAppliedBehaviors, parseBehaviorString } = library;
  const all = new WeakMap<Behavior, Known>();
  const knownOf = (behavior: Behavior) => of(all, behavior, () => new Known());
  library.entityMatches = function (type, entity, filter) {
    const { behaviorString: text } = this.getBehaviorForEntity(type, entity);
    const answers = of(
      knownOf(this).matches,
      `${type} ${filter}`,
      () => new Map<string, boolean | undefined>(),
    );
    return of(answers, text, () => entityMatches.call(this, type, entity, filter));
  };
  library.getPreferencesAppliedBehaviors = function (type, inferred, override) {
    const key = [type, inferred.behaviorString, override.behaviorString].join("\n");
    return of(knownOf(this).applied, key, () =>
      getPreferencesAppliedBehaviors.call(this, type, inferred, override),
    );
  };
  library.parseBehaviorString = function (text) {
    return of(knownOf(this).parsed, text, () => parseBehaviorString.call(this, text));
  };
}

/** What is remembered under a key, worked out when there is nothing. */
function of<Key, Value>(
  known: { get(key: Key): Value | undefined; has(key: Key): boolean; set(key: Key, value: Value): unknown },
  key: Key,
  workOut: () => Value,
): Value {
  if (known.has(key)) return known.get(key)!;
  const value = workOut();
  known.set(key, value);
  return value;
}
