import { createHash } from "node:crypto";
import type { PgResource } from "postgraphile/@dataplan/pg";
import type { FieldNode, GraphQLField, GraphQLNamedType, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { nameOperation } from "../graphql/signature.ts";
import type { Given } from "./arguments.ts";
import type { FunctionCall } from "./function-call.ts";
import type { Piece } from "./json-text.ts";
import { identifier, json, objectPieces, textOfSql } from "./json-text.ts";
import type { FieldSource, Rows } from "./field-source.ts";
import type { Hop } from "./hops.ts";
import { sourceOf } from "./field-source.ts";
import { joinOf } from "./related-rows.ts";
import type { Coerced, ReadableOperation, SelectedField } from "./selection.ts";
import { NotCovered, selectedFields } from "./selection.ts";

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
  readonly #variables: Coerced;
  readonly #given: ReadonlyMap<FieldNode, Given>;
  readonly #expressObject: ExpressObject;
  readonly #slots: Slot[] = [];
  #aliases = 0;
  #fields = 0;

  /** @param expressObject builds objects (objects.ts). It is passed in because objects contain lists, and lists objects */
  constructor(
    operation: ReadableOperation,
    variables: Coerced,
    fieldArguments: ReadonlyMap<FieldNode, Given>,
    expressObject: ExpressObject,
  ) {
    this.operation = operation;
    this.#variables = variables;
    this.#given = fieldArguments;
    this.#expressObject = expressObject;
  }

  /** Returns a new unique alias. */
  alias(): string {
    return `t${this.#aliases++}`;
  }

  /** Adds a parameter to the statement, and returns its SQL. */
  parameter(node: FieldNode, index: number, type: string): string {
    this.#slots.push({ node, index });
    return `$${this.#slots.length}::${type}`;
  }

  /** The number of parameters so far. */
  get parameterCount(): number {
    return this.#slots.length;
  }

  /** Returns one of the arguments of a field. @throws {NotCovered} when the field doesn't have it */
  given<Name extends keyof Given>(node: FieldNode, name: Name): NonNullable<Given[Name]> {
    const given = this.#given.get(node)?.[name];
    if (given === undefined) throw new NotCovered(`arguments of ${node.name.value}`);
    return given;
  }

  /** Returns SQL of a field's function call. @param row the alias of the row that the function takes; null if it takes none */
  call(node: FieldNode, { name }: FunctionCall, row: string | null): string {
    const given = this.given(node, "call").map(
      (value) => `${identifier(value.name)}=>${this.parameter(node, value.index, value.type)}`,
    );
    return `${textOfSql(name)}(${[...(row === null ? [] : [row]), ...given].join()})`;
  }

  /** Returns the selected fields of an object, by their names in the response. */
  select(type: GraphQLObjectType, { below }: Pick<SelectedField, "below">): [string, SelectedField][] {
    const fields = [...selectedFields(this.operation, type, below, this.#variables)];
    this.#fields += fields.length;
    if (this.#fields > maxFields) throw new NotCovered("too many fields");
    return fields;
  }

  /** Returns the pieces of an object. `piecesOf` returns the pieces of each field except __typename. */
  object(
    type: GraphQLObjectType,
    selected: Pick<SelectedField, "below">,
    piecesOf: (field: Field, source: FieldSource, part: SelectedField) => Piece[],
  ): Piece[] {
    const fields = this.select(type, selected).map(([key, part]): [string, Piece[]] => {
      if (part.name === "__typename") return [key, [json(JSON.stringify(type.name))]];
      const { field, source } = understood(type, part.name);
      return [key, piecesOf(field, source, part)];
    });
    return objectPieces(fields);
  }

  /** Returns SQL of the JSON text of an object from a row of a view. */
  row(type: GraphQLObjectType, selected: Pick<SelectedField, "below">, alias: string): string {
    return this.#expressObject(this, type, selected, alias);
  }

  /**
   * Returns the statement, with a comment in the format of sqlcommenter that names the operation. The comment contains no
   * text from clients.
   */
  statement(text: string): Statement {
    const { schema, definition, fragments } = this.operation;
    const { id, version } = nameOperation(schema, definition, fragments);
    return {
      text: `${text} /*operation='${id}',version='${encodeURIComponent(version)}'*/`,
      name: createHash("sha256").update(text).digest("base64url").slice(0, 32),
      slots: this.#slots,
    };
  }
}

/** Returns a field with its source. @throws {NotCovered} when its source isn't known */
export function understood(type: GraphQLObjectType, name: string): { field: Field; source: FieldSource } {
  const field = type.getFields()[name];
  const source = field && sourceOf(field);
  if (!source) throw new NotCovered(`${type.name}.${name}`);
  return { field, source };
}

/** Returns the object type of a field. @throws {NotCovered} when it is another type */
export function objectTypeOf({ type, name }: Field): GraphQLObjectType {
  const named = getNamedType(type);
  if (!isObjectType(named)) throw new NotCovered(`type of ${name}`);
  return named;
}

/** Returns the rows that global ids of a type refer to; null if there is no such type, so that its ids find nothing. */
export function rowsById(type: GraphQLNamedType | undefined): { type: GraphQLObjectType; rows: Rows } | null {
  if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === "Node")) return null;
  const { rows } = type.extensions;
  if (!rows) throw new NotCovered(`rows of ${type.name}`);
  return { type, rows };
}

/** Returns SQL of a view, for use after `from`. */
export function fromOf(resource: PgResource): string {
  const { text, values } = sql.compile(resource.from as SQL);
  if (values.length > 0) throw new NotCovered(`from ${resource.name}`);
  return text;
}

/** Returns SQL of a hop's join condition, between the aliases of both sides. */
export const joinText = (hop: Hop, local: string, remote: string): string =>
  textOfSql(joinOf(hop, sql.identifier(local), sql.identifier(remote)));
