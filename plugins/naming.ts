import type {} from "postgraphile";
import { tagText } from "./lib/tags.ts";

/**
 * Names of root fields. Smart tags of views, `@graphile/simplify-inflection` and the library's defaults name everything
 * else.
 */
export const NamingPlugin: GraphileConfig.Plugin = {
  name: "NamingPlugin",
  description:
    "Names root fields: `product(id:)` for one row, the tag @rootField for lists with a name of their own",
  version: "1.0.0",
  inflection: {
    replace: {
      nodeById(_previous, _preset, typeName) {
        return this.camelCase(typeName);
      },
      allRowsConnection(previous, _preset, resource) {
        return tagText(resource, "rootField") ?? previous!(resource);
      },
    },
  },
};
