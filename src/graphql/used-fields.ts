import type { DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import { TypeInfo, visit, visitWithTypeInfo } from "postgraphile/graphql";

/** Fields and arguments, as Type.field or Type.field(argument:). */
export interface UsedFields {
  all: readonly string[];
  deprecated: readonly string[];
}

// The same text is the same document (documents.ts), so each is looked through once
const known = new WeakMap<DocumentNode, UsedFields>();

/** The fields and arguments that a document uses, but for those of introspection. */
export function usedFieldsOf(schema: GraphQLSchema, document: DocumentNode): UsedFields {
  let found = known.get(document);
  if (!found) known.set(document, (found = find(schema, document)));
  return found;
}

function find(schema: GraphQLSchema, document: DocumentNode): UsedFields {
  const info = new TypeInfo(schema);
  const found = new Map<string, boolean>();
  visit(
    document,
    visitWithTypeInfo(info, {
      Field() {
        const field = info.getFieldDef();
        const owner = info.getParentType()?.name;
        if (!field || field.name.startsWith("__") || owner?.startsWith("__")) return;
        found.set(`${owner}.${field.name}`, field.deprecationReason != null);
      },
      Argument() {
        const argument = info.getArgument();
        const field = info.getFieldDef();
        if (!argument || !field || field.name.startsWith("__")) return;
        const name = `${info.getParentType()!.name}.${field.name}(${argument.name}:)`;
        found.set(name, argument.deprecationReason != null);
      },
    }),
  );
  const all = [...found.keys()].sort();
  return { all, deprecated: all.filter((name) => found.get(name)) };
}
