import { hash } from "node:crypto";
import type {
  ArgumentNode,
  DirectiveNode,
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLSchema,
  ObjectFieldNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
  ValueNode,
} from "postgraphile/graphql";
import { getOperationAST, isInputObjectType, Kind, parse, print } from "postgraphile/graphql";
import { memoizeByObject, getOrMake } from "../lib/remembered.ts";
import { findOperation } from "./operation.ts";

/** An operation's identity in logs, statements and statistics. Names, aliases and values don't affect it. */
export interface NamedOperation {
  /** 16 hexadecimal digits, of the version and the signature. */
  id: string;
  version: string;
  /** The client's name for it, truncated; null if there is none. */
  name: string | null;
  /** Its text without names, aliases and values. */
  signature: string;
}

/** Maximum characters of a name. */
const maxName = 64;

declare module "graphql" {
  interface GraphQLSchemaExtensions {
    /** The version that the schema is of, such as 2026-06-unstable. */
    version?: string;
  }
}

// Documents are cached, so the same operation is the same object
const known = new WeakMap<OperationDefinitionNode, NamedOperation>();

/** Returns the requested operation of a document; null if it has none. */
export function findNamedOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
): NamedOperation | null {
  const definition = getOperationAST(document, operationName);
  if (!definition) return null;
  return known.get(definition) ?? nameOperation(schema, definition, findOperation(document, null).fragments);
}

/** Returns the identity of an operation that has been found. */
export function nameOperation(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): NamedOperation {
  return getOrMake(known, definition, () => {
    const version = schema.extensions.version ?? "";
    const signature = writeSignature(schema, definition, fragments);
    const id = hash("sha256", `${version} ${signature}`, "hex").slice(0, 16);
    const name = definition.name?.value.slice(0, maxName) ?? null;
    return { id, version, name, signature };
  });
}

/**
 * Returns an operation's text without anything that the client chose: only words of GraphQL and of the schema are left.
 * Values become variables named after their argument or field; fragments are numbered.
 */
function writeSignature(
  schema: GraphQLSchema,
  { operation, directives, selectionSet }: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): string {
  const writer = new SignatureWriter(listInputNames(schema));
  const texts = [operation + writer.directives(directives) + writer.set(selectionSet)];
  // The iteration includes fragments that are added meanwhile
  for (const [name, number] of writer.fragments) {
    const { typeCondition, directives: own, selectionSet: set } = fragments.get(name)!;
    const rest = writer.directives(own) + writer.set(set);
    texts.push(`fragment f${number} on ${typeCondition.name.value}${rest}`);
  }
  return texts.join(" ");
}

/** The names of all fields of input types. */
const listInputNames = memoizeByObject((schema: GraphQLSchema): ReadonlySet<string> => {
  const types = Object.values(schema.getTypeMap()).filter(isInputObjectType);
  return new Set(types.flatMap((type) => Object.keys(type.getFields())));
});

class SignatureWriter {
  /** Numbers of fragments, by their names. */
  readonly fragments = new Map<string, number>();
  readonly #inputNames: ReadonlySet<string>;

  constructor(names: ReadonlySet<string>) {
    this.#inputNames = names;
  }

  set({ selections }: SelectionSetNode): string {
    return `{${selections.map((selection) => this.#selection(selection)).join(" ")}}`;
  }

  directives(directives: readonly DirectiveNode[] = []): string {
    return directives.map(({ name, arguments: given }) => `@${name.value}${this.#arguments(given)}`).join("");
  }

  #selection(selection: SelectionNode): string {
    const directives = this.directives(selection.directives);
    if (selection.kind === Kind.FRAGMENT_SPREAD)
      return `...f${this.#fragment(selection.name.value)}${directives}`;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const { typeCondition, selectionSet } = selection;
      const condition = typeCondition ? ` on ${typeCondition.name.value}` : "";
      return `...${condition}${directives}${this.set(selectionSet)}`;
    }
    const { name, arguments: given, selectionSet } = selection;
    return name.value + this.#arguments(given) + directives + (selectionSet ? this.set(selectionSet) : "");
  }

  #fragment(name: string): number {
    if (!this.fragments.has(name)) this.fragments.set(name, this.fragments.size + 1);
    return this.fragments.get(name)!;
  }

  #arguments(given: readonly ArgumentNode[] = []): string {
    return given.length === 0 ? "" : `(${this.#values(given)})`;
  }

  /** Writes arguments or fields, sorted by name. */
  #values(given: readonly (ArgumentNode | ObjectFieldNode)[]): string {
    const texts = given.map(({ name, value }) => `${name.value}:${this.#value(name.value, value)}`);
    return texts.sort().join(" ");
  }

  #value(name: string, value: ValueNode): string {
    if (value.kind === Kind.LIST && value.values.length > 0)
      return `[${this.#value(name, value.values[0]!)}]`;
    // Other names are the client's own, in JSON
    if (value.kind !== Kind.OBJECT || value.fields.some((field) => !this.#inputNames.has(field.name.value)))
      return `$${name}`;
    return `{${this.#values(value.fields)}}`;
  }
}

/** Formats a signature on several lines, for people. */
export function readableSignature(signature: string): string {
  try {
    return print(parse(signature, { noLocation: true }));
  } catch {
    return signature; // It was too long to be kept in full
  }
}
