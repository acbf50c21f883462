import type {
  DocumentNode,
  FieldNode,
  GraphQLCompositeType,
  GraphQLOutputType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import {
  getNamedType,
  isObjectType,
  Kind,
  parse,
  parseType,
  parseValue,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "postgraphile/graphql";
import { maxPageSize } from "../graphql/page-size.ts";

/** Names in rewritten queries, which no query of a client has. */
export const names = { id: "bulk_id", page: "bulk_page_", more: "bulk_more" } as const;

/** Rows of a page of the list, when there are lists within it. */
const pageSizeWithNested = 50;

/** The queries that read all rows of a list. */
export interface ExportQueries {
  /** The name of the list in answers. */
  key: string;
  /** A page of the list, behind `$bulk_after`. */
  page: DocumentNode;
  /** A page of the list within `$bulk_id` that has this number, behind `$bulk_after`. */
  more(number: number): DocumentNode;
}

/** Why a query can't be exported; for its author. */
export class NoExport extends Error {
  override name = "NoExport";
}

/** A list within the list. */
interface Nested {
  parentType: string;
  field: FieldNode;
}

/**
 * Rewrites a valid query of one list, so that it can be read page by page, with the lists within it.
 *
 * @throws {NoExport} when it is no query of one list
 */
export function exportQueries(schema: GraphQLSchema, source: string): ExportQueries {
  const document = parse(source);
  const root = rootOf(schema, document);
  const lists: Nested[] = [];
  const typeInfo = new TypeInfo(schema);
  const hasNested = countLists(schema, document) > 1;
  const rewritten = visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field: {
        leave(field) {
          const parent = typeInfo.getParentType()!;
          requireNoAlias(field, parent);
          if (!isConnection(typeInfo.getType())) return undefined;
          const isRoot = parent === schema.getQueryType();
          const made = pageOf(
            field,
            lists.length,
            isRoot && hasNested ? pageSizeWithNested : maxPageSize,
            isRoot,
          );
          lists.push({ parentType: parent.name, field: made });
          return made;
        },
      },
      SelectionSet: {
        leave(set) {
          const type = typeInfo.getParentType();
          return isNode(type) ? withSelections(set, `${names.id}: id`) : undefined;
        },
      },
    }),
  );
  return {
    key: root.alias?.value ?? root.name.value,
    page: withVariables(rewritten, "$bulk_after: String"),
    more: (number) => moreOf(rewritten, lists[number]!),
  };
}

const operationOf = ({ definitions }: DocumentNode): OperationDefinitionNode =>
  definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)!;

function rootOf(schema: GraphQLSchema, document: DocumentNode): FieldNode {
  const [root, ...others] = operationOf(document).selectionSet.selections;
  const type = root?.kind === Kind.FIELD ? schema.getQueryType()!.getFields()[root.name.value]?.type : null;
  if (root?.kind !== Kind.FIELD || others.length > 0 || !isConnection(type))
    throw new NoExport("The query must have one field, which is a list.");
  if (root.directives?.length) throw new NoExport("The list can't have directives.");
  return root;
}

function countLists(schema: GraphQLSchema, document: DocumentNode): number {
  const typeInfo = new TypeInfo(schema);
  let count = 0;
  visit(
    document,
    visitWithTypeInfo(typeInfo, { Field: () => void (isConnection(typeInfo.getType()) && count++) }),
  );
  return count;
}

/** Whether a type is a page of a list. */
export function isConnection(type: GraphQLOutputType | null | undefined): boolean {
  const named = type && getNamedType(type);
  return isObjectType(named) && "edges" in named.getFields() && "pageInfo" in named.getFields();
}

const isNode = (type: GraphQLCompositeType | null | undefined): boolean =>
  isObjectType(type) && type.getInterfaces().some(({ name }) => name === "Node");

function requireNoAlias({ name, alias }: FieldNode, parent: GraphQLCompositeType): void {
  const isOfPage = isObjectType(parent) && (isConnection(parent) || "cursor" in parent.getFields());
  if (isOfPage && alias && ["edges", "node"].includes(name.value))
    throw new NoExport("edges and node can't have other names.");
}

const pageArguments = new Set(["first", "last", "after", "before"]);

function pageOf(field: FieldNode, number: number, size: number, isRoot: boolean): FieldNode {
  const others = (field.arguments ?? []).filter(({ name }) => !pageArguments.has(name.value));
  return {
    ...field,
    arguments: [
      ...others,
      argument("first", String(size)),
      ...(isRoot ? [argument("after", "$bulk_after")] : []),
    ],
    selectionSet: withSelections(
      field.selectionSet!,
      `${names.page}${number}: pageInfo { hasNextPage endCursor }`,
    ),
  };
}

const argument = (name: string, value: string) => ({
  kind: Kind.ARGUMENT as const,
  name: { kind: Kind.NAME as const, value: name },
  value: parseValue(value),
});

function withSelections(set: SelectionSetNode, text: string): SelectionSetNode {
  const { selections } = operationOf(parse(`{ ${text} }`)).selectionSet;
  return { ...set, selections: [...set.selections, ...selections] };
}

/** The document with more variables in its operation, and perhaps another selection. */
function withVariables(
  document: DocumentNode,
  variables: string,
  selections?: readonly SelectionNode[],
): DocumentNode {
  const added = operationOf(parse(`query (${variables}) { __typename }`)).variableDefinitions!;
  return {
    ...document,
    definitions: document.definitions.map((each) =>
      each.kind === Kind.OPERATION_DEFINITION
        ? {
            ...each,
            variableDefinitions: [...(each.variableDefinitions ?? []), ...added],
            ...(selections && { selectionSet: { kind: Kind.SELECTION_SET, selections } }),
          }
        : each,
    ),
  };
}

function moreOf(document: DocumentNode, { parentType, field }: Nested): DocumentNode {
  const more: FieldNode = {
    ...field,
    alias: { kind: Kind.NAME, value: names.more },
    arguments: [...field.arguments!, argument("after", "$bulk_after")],
  };
  const condition = parseType(parentType);
  if (condition.kind !== Kind.NAMED_TYPE) throw new Error(parentType);
  const within: SelectionNode = {
    kind: Kind.INLINE_FRAGMENT,
    typeCondition: condition,
    selectionSet: { kind: Kind.SELECTION_SET, selections: [more] },
  };
  const [node] = operationOf(parse("{ node(id: $bulk_id) { __typename } }")).selectionSet.selections as [
    FieldNode,
  ];
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: [within] };
  return withVariables(document, "$bulk_id: ID!, $bulk_after: String", [{ ...node, selectionSet }]);
}
