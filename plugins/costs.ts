import { rowsPerPoint } from "../src/graphql/assess.ts";
import { tagText } from "./lib/tags.ts";

/** Adds the price of a function to its field, from the tag `@cost`: points for each call, whatever the database holds. */
export const CostsPlugin: GraphileConfig.Plugin = {
  name: "CostsPlugin",
  description: "Declares what a call of a function costs, from the tag @cost",
  schema: {
    hooks: {
      GraphQLObjectType_fields_field(field, _build, { Self, scope }) {
        const called = scope.mutationFunction ?? scope.readFunction?.resource ?? scope.pgFieldAttribute;
        const cost = tagText(called, "cost");
        if (cost === undefined) return field;
        if (!/^[1-9][0-9]*$/.test(cost))
          throw new Error(`${Self.name}.${scope.fieldName}: @cost "${cost}" is not a number of points`);
        field.extensions = { ...field.extensions, rowsPerCall: Number(cost) * rowsPerPoint };
        return field;
      },
    },
  },
};
