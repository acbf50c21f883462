import type {
  ArgumentNode,
  DocumentNode,
  FieldNode,
  NameNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { Kind, parse, parseValue } from "postgraphile/graphql";

const nameNode = (value: string): NameNode => ({ kind: Kind.NAME, value });
const selectionSet = (selections: readonly SelectionNode[]): SelectionSetNode => ({
  kind: Kind.SELECTION_SET,
  selections,
});

interface FieldParts {
  alias?: string;
  arguments?: readonly ArgumentNode[] | undefined;
  /** The selections within the field. */
  below?: readonly SelectionNode[];
  /** The type that the selections belong to, if the field's type is abstract. */
  on?: string;
}

/** Makes a field of a query. */
export function fieldNode(name: string, { alias = name, below, on, ...parts }: FieldParts = {}): FieldNode {
  return {
    kind: Kind.FIELD,
    name: nameNode(name),
    alias: nameNode(alias),
    arguments: parts.arguments ?? [],
    ...(below && { selectionSet: selectionSet(on === undefined ? below : [onType(on, below)]) }),
  };
}

const onType = (type: string, selections: readonly SelectionNode[]): SelectionNode => ({
  kind: Kind.INLINE_FRAGMENT,
  typeCondition: { kind: Kind.NAMED_TYPE, name: nameNode(type) },
  selectionSet: selectionSet(selections),
});

/** Makes an argument from its name and its value in GraphQL syntax. */
export const valueArgument = (name: string, value: string): ArgumentNode => ({
  kind: Kind.ARGUMENT,
  name: nameNode(name),
  value: parseValue(value),
});

/** Makes a document from an operation, with another field and additional variables. */
export function queryNode(
  operation: OperationDefinitionNode,
  declared: string,
  field: FieldNode,
): DocumentNode {
  const [added] = parse(`query (${declared}) { __typename }`).definitions as [OperationDefinitionNode];
  const { variableDefinitions = [] } = operation;
  return {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        ...operation,
        variableDefinitions: [...variableDefinitions, ...added.variableDefinitions!],
        selectionSet: selectionSet([field]),
      },
    ],
  };
}

/** Aliases and variables that the queries add. The client's query doesn't contain them. */
export interface AddedNames {
  /** The id of a row, or of an object with a nested list. */
  id: string;
  /** The end of a page of a list. */
  page: string;
  /** The next page of a nested list. */
  more: string;
  /** The variable for the cursor. */
  after: string;
}

/** Chooses names that a query doesn't contain. */
export function chooseNames(source: string): AddedNames {
  let prefix = "bulk";
  while (source.includes(prefix)) prefix += "_";
  return { id: `${prefix}id`, page: `${prefix}page`, more: `${prefix}more`, after: `${prefix}after` };
}
