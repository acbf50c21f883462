import type {} from "postgraphile";
import type { FieldArgs, Step } from "postgraphile/grafast";
import { lambda } from "postgraphile/grafast";
import { GraphQLID, GraphQLList, GraphQLNonNull } from "postgraphile/graphql";
import { readIds } from "../src/reads/ids.ts";
import { maxPageSize } from "../src/graphql/page-size.ts";
import { keyOf } from "./node.ts";

declare global {
  namespace GraphileBuild {
    interface ScopeObjectFieldsField {
      /** Whether it is the root field of several things by their ids. */
      isRootNodesField?: boolean;
    }
  }
}

/** `nodes(ids:)`: several things by their global ids, in their order. */
export const NodesPlugin: GraphileConfig.Plugin = {
  name: "NodesPlugin",
  description: "Looks up several rows by global id, in the root field `nodes`",
  version: "1.0.0",
  after: ["GlobalNodePlugin"],
  schema: {
    hooks: {
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (!scope.isRootQuery) return fields;
        const nodes = fieldWithHooks({ fieldName: "nodes", isRootNodesField: true }, () => ({
          description:
            "Things with global ids, whatever their types, in the order of the ids; null where there is none that the caller may read.",
          type: new GraphQLNonNull(new GraphQLList(build.getOutputTypeByName("Node"))),
          args: {
            ids: {
              description: `Global ids, ${maxPageSize} at most.`,
              type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLID))),
            },
          },
          plan: (_$root: Step, args: FieldArgs) =>
            lambda(args.getRaw("ids"), (ids) => {
              const found = readIds(ids as string[], keyOf(build));
              return found.map(({ id, typeName }) => (build.getNodeIdHandler!(typeName) ? id : null));
            }),
        }));
        return build.extend(fields, { nodes }, "Adding nodes to Query");
      },
    },
  },
};
