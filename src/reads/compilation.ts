import { createHash } from "node:crypto";
import type { PgResource } from "postgraphile/@dataplan/pg";
import type { FieldNode, GraphQLField, GraphQLNamedType, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { nameOperation } from "../graphql/signature.ts";
import type { FieldArguments } from "./arguments.ts";
import type { FunctionCall } from "./function-call.ts";
import type { Piece } from "./json-text.ts";
import { quoteIdentifier, jsonPiece, buildObjectPieces, toSqlText } from "./json-text.ts";
import type { FieldSource, Rows } from "./field-source.ts";
import type { Hop } from "./hops.ts";
import { findSource } from "./field-source.ts";
import { buildJoinCondition } from "./related-rows.ts";
import type { CoercedVariables, ReadableOperation, SelectedField } from "./selection.ts";
import { UnsupportedOperation, selectedFields } from "./selection.ts";

/** The source of a parameter: a field's arguments, and the index of a value in them. */
export interface Slot {
  node: FieldNode;
  index: number;
}

/** An SQL statement with the sources of $1, $2, … */
export interface Statement {
  text: string;
  /** Equal for texts that differ only in their comments, so that Postgres prepares them once. */
  name: string;
  slots: readonly Slot[];
}

/** Returns SQL of the JSON text of an object from a row. */
type ExpressObject = (
  compilation: Compilation,
  type: GraphQLObjectType,
  selected: Pick<SelectedField, "below">,
  alias: string,
) => string;

export type Field = GraphQLField<unknown, unknown>;

/** The most fields of a compiled operation. Grafast runs longer ones: their statements would be too long to be faster. */
const maxFields = 3_000;

/** The state of a statement that is being compiled, which its parts share. */
export class Compilation {
  readonly operation: ReadableOperation;
  readonly #variables: CoercedVariables;
  readonly #fieldArguments: ReadonlyMap<FieldNode, FieldArguments>;
  readonly #expressObject: ExpressObject;
  readonly #slots: Slot[] = [];
  #aliases = 0;
  #fields = 0;

  /** @param expressObject builds objects (objects.ts). It is passed in because objects contain lists, and lists objects */
  constructor(
    operation: ReadableOperation,
    variables: CoercedVariables,
    fieldArguments: ReadonlyMap<FieldNode, FieldArguments>,
    expressObject: ExpressObject,
  ) {
    this.operation = operation;
    this.#variables = variables;
    this.#fieldArguments = fieldArguments;
    this.#expressObject = expressObject;
  }

  /** Returns a new unique alias. */
  createAlias(): string {
    return `t${this.#aliases++}`;
  }

  /** Adds a parameter to the statement, and returns its SQL. */
  addParameter(node: FieldNode, index: number, type: string): string {
    this.#slots.push({ node, index });
    return `$${this.#slots.length}::${type}`;
  }

  /** The number of parameters so far. */
  get parameterCount(): number {
    return this.#slots.length;
  }

  /** Returns one of the arguments of a field. @throws {UnsupportedOperation} when the field doesn't have it */
  getArgument<Name extends keyof FieldArguments>(
    node: FieldNode,
    name: Name,
  ): NonNullable<FieldArguments[Name]> {
    const argument = this.#fieldArguments.get(node)?.[name];
    if (argument === undefined) throw new UnsupportedOperation(`arguments of ${node.name.value}`);
    return argument;
  }

  /** Returns SQL of a field's function call. @param row the alias of the row that the function takes; null if it takes none */
  buildCall(node: FieldNode, { name }: FunctionCall, row: string | null): string {
    const present = this.getArgument(node, "call").map(
      (value) => `${quoteIdentifier(value.name)}=>${this.addParameter(node, value.index, value.type)}`,
    );
    return `${toSqlText(name)}(${[...(row === null ? [] : [row]), ...present].join()})`;
  }

  /** Returns the selected fields of an object, by their names in the response. */
  selectFields(type: GraphQLObjectType, { below }: Pick<SelectedField, "below">): [string, SelectedField][] {
    const fields = [...selectedFields(this.operation, type, below, this.#variables)];
    this.#fields += fields.length;
    if (this.#fields > maxFields) throw new UnsupportedOperation("too many fields");
    return fields;
  }

  /** Returns the pieces of an object. `piecesOf` returns the pieces of each field except __typename. */
  buildObject(
    type: GraphQLObjectType,
    selected: Pick<SelectedField, "below">,
    piecesOf: (field: Field, source: FieldSource, part: SelectedField) => Piece[],
  ): Piece[] {
    const fields = this.selectFields(type, selected).map(([key, part]): [string, Piece[]] => {
      if (part.name === "__typename") return [key, [jsonPiece(JSON.stringify(type.name))]];
      const { field, source } = requireField(type, part.name);
      return [key, piecesOf(field, source, part)];
    });
    return buildObjectPieces(fields);
  }

  /** Returns SQL of the JSON text of an object from a row of a view. */
  buildRow(type: GraphQLObjectType, selected: Pick<SelectedField, "below">, alias: string): string {
    return this.#expressObject(this, type, selected, alias);
  }

  /**
   * Returns the statement, with a comment in the format of sqlcommenter that names the operation. The comment contains no
   * text from clients.
   */
  createStatement(text: string): Statement {
    const { schema, definition, fragments } = this.operation;
    const { id, version } = nameOperation(schema, definition, fragments);
    return {
      text: `${text} /*operation='${id}',version='${encodeURIComponent(version)}'*/`,
      name: createHash("sha256").update(text).digest("base64url").slice(0, 32),
      slots: this.#slots,
    };
  }
}

/** Returns a field with its source. @throws {UnsupportedOperation} when its source isn't known */
export function requireField(type: GraphQLObjectType, name: string): { field: Field; source: FieldSource } {
  const field = type.getFields()[name];
  const source = field && findSource(field);
  if (!source) throw new UnsupportedOperation(`${type.name}.${name}`);
  return { field, source };
}

/** Returns the object type of a field. @throws {UnsupportedOperation} when it is another type */
export function requireObjectType({ type, name }: Field): GraphQLObjectType {
  const named = getNamedType(type);
  if (!isObjectType(named)) throw new UnsupportedOperation(`type of ${name}`);
  return named;
}

/** Returns the rows that global ids of a type refer to; null if there is no such type, so that its ids find nothing. */
export function findRows(type: GraphQLNamedType | undefined): { type: GraphQLObjectType; rows: Rows } | null {
  if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === "Node")) return null;
  const { rows } = type.extensions;
  if (!rows) throw new UnsupportedOperation(`rows of ${type.name}`);
  return { type, rows };
}

/** Returns SQL of a view, for use after `from`. */
export function buildFrom(resource: PgResource): string {
  const { text, values } = sql.compile(resource.from as SQL);
  if (values.length > 0) throw new UnsupportedOperation(`from ${resource.name}`);
  return text;
}

/** Returns SQL of a hop's join condition, between the aliases of both sides. */
export const buildJoinText = (hop: Hop, local: string, remote: string): string =>
  toSqlText(buildJoinCondition(hop, sql.identifier(local), sql.identifier(remote)));
