import type {} from "postgraphile";
import type { FieldArgs, Step } from "postgraphile/grafast";
import { lambda } from "postgraphile/grafast";
import type { GraphQLInterfaceType } from "postgraphile/graphql";
import { decodeGlobalId, requireGlobalId, requireUuid } from "../src/graphql/global-id.ts";
import { preservesSource } from "../src/reads/field-source.ts";

/**
 * The `Node` interface, `node(id:)`, and one root field by id for each type.
 *
 * A text that is no global id, or in `product(id:)` the id of another type, is the caller's mistake and refused. A
 * valid id of nothing that the caller may read gives null: an unknown row, a row hidden by row-level security, a kind
 * of object without a GraphQL type.
 */
export const NodePlugin: GraphileConfig.Plugin = {
  name: "GlobalNodePlugin",
  description: "Looks rows up by global id, in `node` and in one root field for each type",
  version: "1.0.0",
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
            const decoded = decodeGlobalId(id);
            return decoded && [decoded.typeName, id];
          },
        });
        return build;
      },
      GraphQLObjectType_interfaces(interfaces, build, { Self }) {
        if (!build.getNodeIdHandler!(Self.name)) return interfaces;
        return [...interfaces, build.getTypeByName("Node") as GraphQLInterfaceType];
      },
      GraphQLObjectType_fields_field(field, build, { scope }) {
        if (scope.isRootNodeField) {
          const check = (id: string) => {
            const { typeName } = requireGlobalId(id);
            return build.getNodeIdHandler!(typeName) ? id : null;
          };
          const plan = (_$root: Step, args: FieldArgs) => lambda(args.getRaw("id"), check);
          field.plan = preservesSource(field.plan, plan);
        }
        const typeName = scope.nodeAccessorTypeName;
        if (typeName) {
          const fetch = build.nodeFetcherByTypeName!(typeName)!;
          const check = (id: string) => {
            requireUuid(typeName, id);
            return id;
          };
          const plan = (_$root: Step, args: FieldArgs) => fetch(lambda(args.getRaw("id"), check));
          field.plan = preservesSource(field.plan, plan);
        }
        return field;
      },
    },
  },
};
