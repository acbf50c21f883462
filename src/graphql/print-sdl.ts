import type {
  ArgumentNode,
  ConstDirectiveNode,
  DirectiveDefinitionNode,
  GraphQLInputObjectType,
  GraphQLObjectType,
  GraphQLSchema,
  InputObjectTypeDefinitionNode,
  ObjectTypeDefinitionNode,
} from "postgraphile/graphql";
import {
  Kind,
  lexicographicSortSchema,
  parse,
  parseConstValue,
  print,
  printSchema,
  visit,
} from "postgraphile/graphql";
import type { ScopeRequirement } from "./scopes.ts";
import { requiresScopesDirective } from "./scopes.ts";

/**
 * Prints a schema with descriptions, and with the scopes that fields require, which `printSchema` of graphql-js leaves out.
 * It is sorted, so that equal schemas give equal texts.
 */
export function printSdl(schema: GraphQLSchema): string {
  const sorted = lexicographicSortSchema(schema);
  const document = visit(parse(printSchema(sorted), { noLocation: true }), {
    // Arguments keep the order of the definition, which is meant for readers: most important first
    DirectiveDefinition(node): DirectiveDefinitionNode {
      const names = schema.getDirective(node.name.value)!.args.map((argument) => argument.name);
      const args = node.arguments?.toSorted(
        (a, b) => names.indexOf(a.name.value) - names.indexOf(b.name.value),
      );
      return { ...node, ...(args ? { arguments: args } : {}) };
    },
    ObjectTypeDefinition: (node) => withScopes(sorted, node),
    InputObjectTypeDefinition: (node) => withScopes(sorted, node),
  });
  return print(document) + "\n";
}

/** Adds the scopes that fields require to the definition of a type. */
function withScopes<Node extends ObjectTypeDefinitionNode | InputObjectTypeDefinitionNode>(
  schema: GraphQLSchema,
  node: Node,
): Node {
  const type = schema.getType(node.name.value) as GraphQLObjectType | GraphQLInputObjectType;
  const fields = node.fields?.map((field) => {
    const requirement = type.getFields()[field.name.value]!.extensions.requiresScopes;
    return requirement
      ? { ...field, directives: [...(field.directives ?? []), directiveNode(requirement)] }
      : field;
  });
  return { ...node, ...(fields ? { fields } : {}) };
}

function directiveNode(requirement: ScopeRequirement): ConstDirectiveNode {
  const name = { kind: Kind.NAME, value: requiresScopesDirective.name } as const;
  const given = requiresScopesDirective.args.flatMap((argument): ArgumentNode[] => {
    const scopes = requirement[argument.name as keyof ScopeRequirement];
    if (!scopes) return [];
    const value = parseConstValue(JSON.stringify(scopes), { noLocation: true });
    return [{ kind: Kind.ARGUMENT, name: { kind: Kind.NAME, value: argument.name }, value }];
  });
  return { kind: Kind.DIRECTIVE, name, arguments: given as ConstDirectiveNode["arguments"] & ArgumentNode[] };
}
