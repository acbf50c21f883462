import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { Kind, OperationTypeNode, parse, print, visit } from "postgraphile/graphql";
import { findOperation } from "../graphql/operation.ts";

/** The query that reads pages of a subscription's list. */
export interface PageDocument {
  /** A document with one query. Its variables are {@link names}, and all used ones of the subscription. */
  text: string;
  /** The name of the list in responses. */
  responseName: string;
  /** The field of the subscription, with its arguments. */
  field: FieldNode;
  /** The names of the variables for the page's size, position and filter. */
  names: { first: string; after: string; filter: string };
  /** The variables of the subscription that the query uses. */
  usedVariables: ReadonlySet<string>;
}

/** Returns the fragments that a node spreads, also indirectly, and the variables that it and these fragments use. */
function findUses(node: SelectionSetNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const variables = new Set<string>();
  const usedFragments = new Set<FragmentDefinitionNode>();
  const collect = (within: SelectionSetNode) =>
    visit(within, {
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value);
        if (!fragment || usedFragments.has(fragment)) return;
        usedFragments.add(fragment);
        collect(fragment.selectionSet);
      },
    });
  collect(node);
  return { variables, usedFragments: [...usedFragments] };
}

/** Returns the root fields, also from fragments. In a valid subscription they all have the same name and arguments. */
function rootFields(
  { selectionSet }: { selectionSet: SelectionSetNode },
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): FieldNode[] {
  return selectionSet.selections.flatMap((node: SelectionNode) => {
    if (node.kind === Kind.FIELD) return [node];
    const within = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
    return within ? rootFields(within, fragments) : [];
  });
}

/** Returns a name that no variable of the operation has. */
function freeName({ variableDefinitions = [] }: OperationDefinitionNode, base: string): string {
  const taken = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  let name = base;
  while (taken.has(name)) name += "_";
  return name;
}

/**
 * Turns a valid subscription to a log into a query for pages of the list with the same name: `subscription { events { id } }`
 * into `query ($first: Int, …) { events(first: $first, …) { edges { cursor node { id } } } }`.
 *
 * @returns null for an operation that isn't a subscription
 */
export function createPageDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): PageDocument | null {
  const { operation, fragments } = findOperation(document, operationName);
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return null;
  const fields = rootFields(operation, fragments);
  const field = fields[0]!;
  const selections = fields.flatMap(({ selectionSet }) => selectionSet!.selections);
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections };
  const { variables, usedFragments: spread } = findUses(selectionSet, fragments);
  const names = {
    first: freeName(operation, "first"),
    after: freeName(operation, "after"),
    filter: freeName(operation, "filter"),
  };
  const responseName = field.alias?.value ?? field.name.value;
  const list = schema.getQueryType()!.getFields()[field.name.value]!;
  const getType = (name: string) => String(list.args.find((each) => each.name === name)!.type);
  const pageVariables = Object.entries(names).map(([argument, name]) => `$${name}: ${getType(argument)}`);
  const usedDefinitions = (operation.variableDefinitions ?? []).filter(({ variable }) =>
    variables.has(variable.name.value),
  );
  const text = [
    `query (${[...pageVariables, ...usedDefinitions.map(print)].join(", ")}) {`,
    `${responseName}: ${field.name.value}(first: $${names.first}, after: $${names.after}, filter: $${names.filter}) {`,
    `edges { cursor node ${print(selectionSet)} } } }`,
    ...spread.map(print),
  ].join("\n");
  return { text: print(parse(text)), responseName, field, names, usedVariables: variables };
}

/** Returns a document with one of its operations and the fragments that it uses; null if there is no such operation. */
export function extractOperation(
  document: DocumentNode,
  operationName: string | null | undefined,
): string | null {
  const { operation, fragments } = findOperation(document, operationName);
  if (!operation) return null;
  return [operation, ...findUses(operation.selectionSet, fragments).usedFragments].map(print).join("\n");
}
