import { hash } from "node:crypto";
import type {
  ArgumentNode,
  DirectiveNode,
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
} from "postgraphile/graphql";
import { getOperationAST, Kind } from "postgraphile/graphql";
import { findOperation } from "./operation.ts";

/** An operation as logs, statements and statistics name it: the same for all that differ only in what clients choose. */
export interface NamedOperation {
  /** 16 hexadecimal digits, of the version and the signature. */
  id: string;
  version: string;
  /** What its client calls it, cut off; null for nothing. */
  name: string | null;
  /** Its text without names, aliases and values. */
  signature: string;
}

/** Characters of a name that are kept. */
const maxName = 64;

declare module "graphql" {
  interface GraphQLSchemaExtensions {
    /** The version that the schema is of, such as 2026-06-unstable. */
    version?: string;
  }
}

// Documents are cached, so the same operation is the same object
const known = new WeakMap<OperationDefinitionNode, NamedOperation>();

/** The requested operation of a document; null when it has none. */
export function namedOperationOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): NamedOperation | null {
  const definition = getOperationAST(document, operationName);
  if (!definition) return null;
  return known.get(definition) ?? nameOperation(schema, definition, findOperation(document, null).fragments);
}

/** The same for an operation that has been found. */
export function nameOperation(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): NamedOperation {
  let named = known.get(definition);
  if (!named) {
    const version = schema.extensions.version ?? "";
    const signature = signatureOf(definition, fragments);
    const id = hash("sha256", `${version} ${signature}`, "hex").slice(0, 16);
    const name = definition.name?.value.slice(0, maxName) ?? null;
    known.set(definition, (named = { id, version, name, signature }));
  }
  return named;
}

/**
 * An operation without anything that its client made up: only words of GraphQL and of the schema are left. Values become
 * variables named after their arguments; fragments are numbered.
 */
export function signatureOf(
  { operation, directives, selectionSet }: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): string {
  const numbers = new Map<string, number>();
  const numberOf = (name: string) => {
    if (!numbers.has(name)) numbers.set(name, numbers.size + 1);
    return numbers.get(name)!;
  };
  const texts = [`${operation}${ofDirectives(directives)}${ofSet(selectionSet, numberOf)}`];
  // A map goes on with what is added meanwhile
  for (const [name, number] of numbers) {
    const { typeCondition, directives: own, selectionSet: set } = fragments.get(name)!;
    texts.push(
      `fragment f${number} on ${typeCondition.name.value}${ofDirectives(own)}${ofSet(set, numberOf)}`,
    );
  }
  return texts.join(" ");
}

type NumberOf = (fragment: string) => number;

const ofSet = ({ selections }: SelectionSetNode, numberOf: NumberOf): string =>
  `{${selections.map((selection) => ofSelection(selection, numberOf)).join(" ")}}`;

function ofSelection(selection: SelectionNode, numberOf: NumberOf): string {
  const directives = ofDirectives(selection.directives);
  if (selection.kind === Kind.FRAGMENT_SPREAD) return `...f${numberOf(selection.name.value)}${directives}`;
  if (selection.kind === Kind.INLINE_FRAGMENT) {
    const { typeCondition, selectionSet } = selection;
    const condition = typeCondition ? ` on ${typeCondition.name.value}` : "";
    return `...${condition}${directives}${ofSet(selectionSet, numberOf)}`;
  }
  const { name, arguments: given, selectionSet } = selection;
  return `${name.value}${ofArguments(given)}${directives}${selectionSet ? ofSet(selectionSet, numberOf) : ""}`;
}

function ofArguments(given: readonly ArgumentNode[] = []): string {
  if (given.length === 0) return "";
  const names = given.map(({ name }) => name.value).sort();
  return `(${names.map((name) => `${name}:$${name}`).join(" ")})`;
}

const ofDirectives = (directives: readonly DirectiveNode[] = []): string =>
  directives.map(({ name, arguments: given }) => `@${name.value}${ofArguments(given)}`).join("");
