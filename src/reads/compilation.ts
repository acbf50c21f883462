import type { PgResource } from "postgraphile/@dataplan/pg";
import type { FieldNode, GraphQLField, GraphQLObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Given } from "./arguments.ts";
import type { FunctionCall } from "./function-call.ts";
import type { Piece } from "./json-text.ts";
import { identifier, json, textOfSql } from "./json-text.ts";
import type { FieldSource } from "./field-source.ts";
import type { Hop } from "./hops.ts";
import { sourceOf } from "./field-source.ts";
import type { Coerced, ReadableOperation, SelectedField } from "./operation.ts";
import { NotCovered, selectedFields } from "./operation.ts";

/** The source of a parameter: a field's arguments, and the index of a value in them. */
export interface Slot {
  node: FieldNode;
  index: number;
}

/** Operations with more fields are left to Grafast: their statement would be too long to pay off. */
const maxFields = 3_000;

/** State that the parts of a statement share while it is compiled. */
export class Compilation {
  readonly operation: ReadableOperation;
  readonly variables: Coerced;
  readonly given: ReadonlyMap<FieldNode, Given>;
  /** The sources of $1, $2, … */
  readonly slots: Slot[] = [];
  #aliases = 0;
  #fields = 0;

  constructor(operation: ReadableOperation, variables: Coerced, given: ReadonlyMap<FieldNode, Given>) {
    this.operation = operation;
    this.variables = variables;
    this.given = given;
  }

  /** A unique name for the rows of a view. */
  alias(): string {
    return `t${this.#aliases++}`;
  }

  /** A parameter of the statement. */
  parameter(node: FieldNode, index: number, type: string): string {
    this.slots.push({ node, index });
    return `$${this.slots.length}::${type}`;
  }

  /** The call of a function by a field. @param row the name of the row that it takes; null of one that takes none */
  call(node: FieldNode, { name }: FunctionCall, row: string | null): string {
    const given = this.given
      .get(node)!
      .call!.map((value) => `${identifier(value.name)}=>${this.parameter(node, value.index, value.type)}`);
    return `${textOfSql(name)}(${[...(row === null ? [] : [row]), ...given].join()})`;
  }

  /** The selected fields of an object, by names in the answer. */
  select(type: GraphQLObjectType, { below }: Pick<SelectedField, "below">): [string, SelectedField][] {
    const fields = [...selectedFields(this.operation, type, below, this.variables)];
    this.#fields += fields.length;
    if (this.#fields > maxFields) throw new NotCovered("too many fields");
    return fields;
  }
}

export const typename = (type: GraphQLObjectType): Piece[] => [json(JSON.stringify(type.name))];

/** A field with its source. @throws {NotCovered} when that isn't known */
export function understood(
  type: GraphQLObjectType,
  name: string,
): { field: GraphQLField<unknown, unknown>; source: FieldSource } {
  const field = type.getFields()[name];
  const source = field && sourceOf(field);
  if (!source) throw new NotCovered(`${type.name}.${name}`);
  return { field, source };
}

/** A view as it appears after `from`. */
export function fromOf(resource: PgResource): string {
  const { text, values } = sql.compile(resource.from as SQL);
  if (values.length > 0) throw new NotCovered(`from ${resource.name}`);
  return text;
}

/** The condition of a hop, between the named rows of both sides. */
export const joinOf = ({ on }: Hop, local: string, remote: string): string =>
  on
    .map((match) => `${remote}.${identifier(match.remote)}=${local}.${identifier(match.local)}`)
    .join(" and ");
