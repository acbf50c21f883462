import type { DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import { Kind, TypeInfo, visit, visitWithTypeInfo } from "postgraphile/graphql";
import { memoizeByObject, getOrMake } from "../lib/remembered.ts";

/** Facts about a document, whatever the variables. */
export interface DocumentFacts {
  /** Fields and arguments, except those for introspection, as Type.field or Type.field(argument:). */
  fields: readonly string[];
  /** The deprecated ones of these. */
  deprecated: readonly string[];
  /** Variables in @skip and @include. */
  flags: readonly string[];
  /** Whether it has `__schema` or `__type`. */
  hasIntrospection: boolean;
}

// The same text is the same document (documents.ts), so each is searched once
const factsBySchema = memoizeByObject<GraphQLSchema, WeakMap<DocumentNode, DocumentFacts>>(
  () => new WeakMap(),
);

export const findDocumentFacts = (schema: GraphQLSchema, document: DocumentNode): DocumentFacts =>
  getOrMake(factsBySchema(schema), document, () => collectFacts(schema, document));

function collectFacts(schema: GraphQLSchema, document: DocumentNode): DocumentFacts {
  const info = new TypeInfo(schema);
  const found = new Map<string, boolean>();
  const flags = new Set<string>();
  let hasIntrospection = false;
  visit(
    document,
    visitWithTypeInfo(info, {
      Field({ name: { value: name } }) {
        if (name === "__schema" || name === "__type") hasIntrospection = true;
        const field = info.getFieldDef();
        const owner = info.getParentType()?.name;
        if (!field || name.startsWith("__") || owner?.startsWith("__")) return;
        found.set(`${owner}.${name}`, field.deprecationReason != null);
      },
      Argument() {
        const argument = info.getArgument();
        const field = info.getFieldDef();
        if (!argument || !field || field.name.startsWith("__")) return;
        const name = `${info.getParentType()!.name}.${field.name}(${argument.name}:)`;
        found.set(name, argument.deprecationReason != null);
      },
      Directive({ arguments: given = [] }) {
        for (const { value } of given) if (value.kind === Kind.VARIABLE) flags.add(value.name.value);
      },
    }),
  );
  const fields = [...found.keys()].sort();
  const deprecated = fields.filter((name) => found.get(name));
  return { fields, deprecated, flags: [...flags], hasIntrospection };
}
