import type { PgResource } from "postgraphile/@dataplan/pg";
import { GraphQLList, GraphQLNonNull, GraphQLString, specifiedDirectives } from "postgraphile/graphql";
import { liveDirective } from "../src/graphql/directives.ts";
import { hasTag } from "./lib/tags.ts";
import { listViews } from "./lib/views.ts";

declare global {
  namespace GraphileBuild {
    interface ScopeObjectFieldsField {
      /** Whether the field sends the entries of a log. */
      isSubscription?: boolean;
    }
  }
}

const listLogs = (build: GraphileBuild.Build): PgResource[] =>
  listViews(build).filter(({ codec }) => hasTag(codec, "log"));

/**
 * Declares the directive `@live`, and subscriptions to views with the tag `@log`, such as the log of events. src/live
 * answers them, from pages of the list with the same name.
 */
export const SubscriptionsPlugin: GraphileConfig.Plugin = {
  name: "SubscriptionsPlugin",
  description: "Offers subscriptions to the log of events, and live queries",
  schema: {
    hooks: {
      GraphQLSchema(config, build) {
        if (listLogs(build).length === 0) return config;
        return { ...config, directives: [...(config.directives ?? specifiedDirectives), liveDirective] };
      },
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (!scope.isRootSubscription) return fields;
        return listLogs(build).reduce((before, resource) => {
          const fieldName = build.inflection.allRowsConnection(resource);
          const type = build.getOutputTypeByName(build.inflection.tableType(resource.codec));
          const field = fieldWithHooks(
            { fieldName, isSubscription: true, pgFieldResource: resource },
            {
              type: new GraphQLNonNull(type),
              args: {
                topics: { type: new GraphQLList(new GraphQLNonNull(GraphQLString)) },
                after: { type: GraphQLString },
              },
            },
          );
          return build.extend(before, { [fieldName]: field }, `Subscribing to ${resource.name}`);
        }, fields);
      },
    },
  },
};
