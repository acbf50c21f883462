import type { DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import { TypeInfo, visit, visitWithTypeInfo } from "postgraphile/graphql";

// The same text is the same document object (documents.ts), so each is searched once
const known = new WeakMap<DocumentNode, readonly string[]>();

/** The deprecated fields and arguments in a document, as Type.field or Type.field(argument:). */
export function deprecatedFieldsOf(schema: GraphQLSchema, document: DocumentNode): readonly string[] {
  let found = known.get(document);
  if (!found) known.set(document, (found = find(schema, document)));
  return found;
}

function find(schema: GraphQLSchema, document: DocumentNode): readonly string[] {
  const info = new TypeInfo(schema);
  const found = new Set<string>();
  visit(
    document,
    visitWithTypeInfo(info, {
      Field() {
        const field = info.getFieldDef();
        if (field?.deprecationReason != null) found.add(`${info.getParentType()!.name}.${field.name}`);
      },
      Argument() {
        const argument = info.getArgument();
        const field = info.getFieldDef();
        if (argument?.deprecationReason == null || !field) return;
        found.add(`${info.getParentType()!.name}.${field.name}(${argument.name}:)`);
      },
    }),
  );
  return [...found].sort();
}
