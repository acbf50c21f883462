import type { FieldArgs, Step } from "postgraphile/grafast";
import { access, inhibitOnNull, lambda } from "postgraphile/grafast";
import type { GraphQLInterfaceType } from "postgraphile/graphql";
import { GraphQLID, GraphQLList, GraphQLNonNull } from "postgraphile/graphql";
import type { KeyOf } from "../src/graphql/global-id.ts";
import { requireGlobalId, requireKey, splitGlobalId } from "../src/graphql/global-id.ts";
import { uuidKey } from "../src/graphql/key-forms.ts";
import { maxPageSize } from "../src/graphql/page-size.ts";
import { withSource } from "../src/reads/field-source.ts";
import { readIds } from "../src/reads/ids.ts";
import { findByKey } from "./lib/view-keys.ts";
import { findKeyByType, findViewByType } from "./lib/views.ts";

type NodeIdHandler = Parameters<NonNullable<GraphileBuild.Build["registerNodeIdHandler"]>>[0];

/** Makes a handler that finds rows by their key, where the id isn't a column: the library looks up columns only. */
function lookUpByKey(build: GraphileBuild.Build, handler: NodeIdHandler): NodeIdHandler {
  const resource = findViewByType(build, handler.typeName)!;
  if (!resource.codec.attributes!.id!.expression) return handler;
  return {
    ...handler,
    getSpec: ($list: Step) => ({ id: inhibitOnNull(access($list, [1])) }),
    get: ({ id }: { id: Step }) => findByKey(resource, id),
  };
}

/** Makes a function that returns the key of a type; undefined for types whose rows can't be looked up. */
const makeKeyLookup =
  (build: GraphileBuild.Build): KeyOf =>
  (typeName) =>
    build.getNodeIdHandler!(typeName) ? findKeyByType(build, typeName) : undefined;

/**
 * Adds the `Node` interface, `node(id:)`, and one root field by id for each type.
 *
 * A text that isn't a global id is refused, and so is the id of another type in `product(id:)`. A valid id returns null if
 * it is unknown, if row-level security hides its row, or if its kind of object has no GraphQL type.
 */
export const NodePlugin: GraphileConfig.Plugin = {
  name: "GlobalNodePlugin",
  description: "Looks rows up by global id, in `node` and in one root field for each type",
  after: ["NodePlugin", "NodeAccessorPlugin"],
  before: ["PgTableNodePlugin"],
  inflection: {
    replace: {
      _attributeName(previous, _preset, details) {
        // The library reserves the name `id` for its own field; here the column is that field.
        return previous!({ ...details, skipRowId: true });
      },
    },
  },
  schema: {
    hooks: {
      build(build) {
        // The id columns hold global ids already (IdColumnsPlugin).
        build.registerNodeIdCodec!({
          name: "globalId",
          encode: (specifier: [string, string] | null) => specifier?.[1] ?? null,
          decode(id: unknown) {
            const decoded = splitGlobalId(id);
            return decoded && [decoded.typeName, id];
          },
        });
        const register = build.registerNodeIdHandler!;
        build.registerNodeIdHandler = (handler) =>
          register(lookUpByKey(build as GraphileBuild.Build, handler));
        return build;
      },
      GraphQLSchema(config, build) {
        return { ...config, extensions: { ...config.extensions, keyOf: makeKeyLookup(build) } };
      },
      GraphQLObjectType_interfaces(interfaces, build, { Self }) {
        if (!build.getNodeIdHandler!(Self.name)) return interfaces;
        return [...interfaces, build.getTypeByName("Node") as GraphQLInterfaceType];
      },
      GraphQLObjectType_fields_field(field, build, { scope }) {
        if (scope.isRootNodeField) {
          const check = (id: string) => {
            const { typeName } = requireGlobalId(id, makeKeyLookup(build));
            return build.getNodeIdHandler!(typeName) ? id : null;
          };
          const plan = (_$root: Step, args: FieldArgs) => lambda(args.getRaw("id"), check);
          return withSource("node", { ...field, plan });
        }
        const typeName = scope.nodeAccessorTypeName;
        if (typeName) {
          const fetch = build.nodeFetcherByTypeName!(typeName)!;
          const check = (id: string) => {
            requireKey(typeName, findKeyByType(build, typeName) ?? uuidKey, id);
            return id;
          };
          const plan = (_$root: Step, args: FieldArgs) => fetch(lambda(args.getRaw("id"), check));
          return withSource("row", { ...field, plan });
        }
        return field;
      },
    },
  },
};

/** Adds `nodes(ids:)`, which looks up several objects by global id, in the order of the ids. */
export const NodesPlugin: GraphileConfig.Plugin = {
  name: "NodesPlugin",
  description: "Looks up several rows by global id, in the root field `nodes`",
  after: ["GlobalNodePlugin"],
  schema: {
    hooks: {
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (!scope.isRootQuery) return fields;
        const nodes = fieldWithHooks({ fieldName: "nodes" }, () =>
          withSource("nodes", {
            description:
              "The objects with these global ids, of any type, in the order of the ids; null where there is none that the caller may read.",
            type: new GraphQLNonNull(new GraphQLList(build.getOutputTypeByName("Node"))),
            args: {
              ids: {
                description: `Global ids, ${maxPageSize} at most.`,
                type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLID))),
              },
            },
            plan: (_$root: Step, args: FieldArgs) =>
              lambda(args.getRaw("ids"), (ids) => {
                const found = readIds(ids as string[], makeKeyLookup(build));
                return found.map(({ id, typeName }) => (build.getNodeIdHandler!(typeName) ? id : null));
              }),
          }),
        );
        return build.extend(fields, { nodes }, "Adding nodes to Query");
      },
    },
  },
};
