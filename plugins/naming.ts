import { memoizeByObject, getOrMake } from "../src/lib/remembered.ts";
import { tagText } from "./lib/tags.ts";

const nameCaches = memoizeByObject<object, Map<string, string>>(() => new Map());

/** Makes a name, or returns it from the cache. The library makes each a hundred times, which takes a sixth of a build. */
const cached = (preset: object, what: string, name: string, make: (name: string) => string): string =>
  getOrMake(nameCaches(preset), `${what} ${name}`, () => make(name));

/**
 * Names root fields. Smart tags of views, `@graphile/simplify-inflection` and the library's defaults name everything
 * else.
 */
export const NamingPlugin: GraphileConfig.Plugin = {
  name: "NamingPlugin",
  description:
    "Names root fields: `product(id:)` for one row, the tag @rootField for lists with a name of their own",
  inflection: {
    replace: {
      singularize: (previous, preset, word) => cached(preset, "singularize", word, previous!),
      pluralize: (previous, preset, word) => cached(preset, "pluralize", word, previous!),
      coerceToGraphQLName: (previous, preset, name) => cached(preset, "coerce", name, previous!),
      // It depends only on the codec's name
      tableType: (previous, preset, codec) =>
        cached(preset, "type", codec.name as string, () => previous!(codec)),
      nodeById(_previous, _preset, typeName) {
        return this.camelCase(typeName);
      },
      allRowsConnection(previous, _preset, resource) {
        return tagText(resource, "rootField") ?? previous!(resource);
      },
    },
  },
};
