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
  /** Equal for equal texts, but for their comments: these are prepared once. */
  name: string;
  slots: readonly Slot[];
}

/** Makes the JSON text of an object from a row. */
type ExpressObject = (
  compilation: Compilation,
  type: GraphQLObjectType,
  selected: Pick<SelectedField, "below">,
  alias: string,
) => string;

export type Field = GraphQLField<unknown, unknown>;

/** Operations with more fields are left to Grafast: their statement would be too long to pay off. */
const maxFields = 3_000;

/** State that the parts of a statement share while it is compiled. */
export class Compilation {
  readonly operation: ReadableOperation;
  readonly #variables: Coerced;
  readonly #given: ReadonlyMap<FieldNode, Given>;
  readonly #expressObject: ExpressObject;
  readonly #slots: Slot[] = [];
  #aliases = 0;
  #fields = 0;

  /** @param expressObject `objectExpression` of objects.ts, which makes lists, whose rows are objects again */
  constructor(
    operation: ReadableOperation,
    variables: Coerced,
    given: ReadonlyMap<FieldNode, Given>,
    expressObject: ExpressObject,
  ) {
    this.operation = operation;
    this.#variables = variables;
    this.#given = given;
    this.#expressObject = expressObject;
  }

  /** A unique name for the rows of a view. */
  alias(): string {
    return `t${this.#aliases++}`;
  }

  /** A parameter of the statement. */
  parameter(node: FieldNode, index: number, type: string): string {
    this.#slots.push({ node, index });
    return `$${this.#slots.length}::${type}`;
  }

  /** How many parameters the statement has so far. */
  get parameterCount(): number {
    return this.#slots.length;
  }

  /** The arguments of a field, as its source reads them. */
  given<Name extends keyof Given>(node: FieldNode, name: Name): NonNullable<Given[Name]> {
    const given = this.#given.get(node)?.[name];
    if (given === undefined) throw new NotCovered(`arguments of ${node.name.value}`);
    return given;
  }

  /** The call of a function by a field. @param row the name of the row that it takes; null of one that takes none */
  call(node: FieldNode, { name }: FunctionCall, row: string | null): string {
    const given = this.given(node, "call").map(
      (value) => `${identifier(value.name)}=>${this.parameter(node, value.index, value.type)}`,
    );
    return `${textOfSql(name)}(${[...(row === null ? [] : [row]), ...given].join()})`;
  }

  /** The selected fields of an object, by names in the answer. */
  select(type: GraphQLObjectType, { below }: Pick<SelectedField, "below">): [string, SelectedField][] {
    const fields = [...selectedFields(this.operation, type, below, this.#variables)];
    this.#fields += fields.length;
    if (this.#fields > maxFields) throw new NotCovered("too many fields");
    return fields;
  }

  /** The pieces of an object; a function makes those of each field but __typename. */
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

  /** The JSON text of an object from a row of a view. */
  row(type: GraphQLObjectType, selected: Pick<SelectedField, "below">, alias: string): string {
    return this.#expressObject(this, type, selected, alias);
  }

  /**
   * The statement of a text, with a comment that says of which operation it is, in the form of sqlcommenter. Nothing in
   * that is a client's word.
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

/** A field with its source. @throws {NotCovered} when that isn't known */
export function understood(type: GraphQLObjectType, name: string): { field: Field; source: FieldSource } {
  const field = type.getFields()[name];
  const source = field && sourceOf(field);
  if (!source) throw new NotCovered(`${type.name}.${name}`);
  return { field, source };
}

/** The type of a field that shows an object. */
export function objectTypeOf({ type, name }: Field): GraphQLObjectType {
  const named = getNamedType(type);
  if (!isObjectType(named)) throw new NotCovered(`type of ${name}`);
  return named;
}

/** The rows that global ids of a type lead to; null where there is no such type, so that its ids lead to nothing. */
export function rowsById(type: GraphQLNamedType | undefined): { type: GraphQLObjectType; rows: Rows } | null {
  if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === "Node")) return null;
  const { rows } = type.extensions;
  if (!rows) throw new NotCovered(`rows of ${type.name}`);
  return { type, rows };
}

/** A view as it appears after `from`. */
export function fromOf(resource: PgResource): string {
  const { text, values } = sql.compile(resource.from as SQL);
  if (values.length > 0) throw new NotCovered(`from ${resource.name}`);
  return text;
}

/** The condition of a hop, between the named rows of both sides. */
export const joinText = (hop: Hop, local: string, remote: string): string =>
  textOfSql(joinOf(hop, sql.identifier(local), sql.identifier(remote)));
