import type { PgCodec, PgCodecAttribute } from "postgraphile/@dataplan/pg";
import type { GraphQLField, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isNonNullType, isObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { globalIdPrefix } from "../graphql/global-id.ts";
import type { Compilation } from "./compilation.ts";
import { typename, understood } from "./compilation.ts";
import type { Piece } from "./json-text.ts";
import {
  concatenated,
  expression,
  identifier,
  json,
  objectPieces,
  quoted,
  textWithConstants,
} from "./json-text.ts";
import type { SelectedField } from "./operation.ts";
import { NotCovered } from "./operation.ts";
import { encoderOf } from "./values.ts";

/** The most rows that are aggregated. */
export const maxAggregated = 100_000;
/** The most groups of an answer. */
export const maxGroups = 1_000;

/** Something that rows are grouped by. */
export interface Group {
  column: string;
  attribute: PgCodecAttribute;
  /** What is compared of the column's value, such as its day. */
  wrap: (column: SQL) => SQL;
}

/** By the name of their value in the enum. */
export type Groups = ReadonlyMap<string, Group>;

/** What a field shows of all rows. */
export interface Aggregate {
  column: string;
  attribute: PgCodecAttribute;
  wrap: (column: SQL) => SQL;
  /** Of the result. */
  codec: PgCodec;
}

/** The value of a column, or what it is worked out by. */
export const valueOf = (rows: SQL, column: string, { expression: made }: PgCodecAttribute): SQL =>
  made ? made(rows) : sql`${rows}.${sql.identifier(column)}`;

/** The text of a group's value, as its field shows it. */
export function groupText({ attribute, wrap }: Group, column: SQL): SQL {
  const codec = attribute.codec;
  const value = wrap(column);
  const text = codec.castFromPg ? codec.castFromPg(value, false) : sql`${value}::text`;
  const { globalIdOf } = codec.extensions ?? {};
  return globalIdOf === undefined ? text : sql`${sql.literal(globalIdPrefix(globalIdOf))}||${text}`;
}

/** SQL that is true, and fails where more was aggregated than may be. */
export const requireFew = (entries: SQL, groups: SQL): SQL =>
  sql`erp.require_countable(${entries},${groups})`;

/** The text of a value of a column within the rows of a subquery. */
const inner = (name: string, alias: string): SQL => sql.identifier(alias, name);

/** Aggregates of the rows of a list. */
export class AggregateText {
  readonly #compilation: Compilation;
  readonly #alias: string;
  /** The columns that are read of the rows, with their names outside. */
  readonly #columns = new Map<string, PgCodecAttribute>();

  constructor(compilation: Compilation) {
    this.#compilation = compilation;
    this.#alias = compilation.alias();
  }

  /** The text of all rows together; `rowsOf` makes SQL from `from` to the end of the conditions. */
  ofAll(type: GraphQLObjectType, selected: SelectedField, rowsOf: (alias: string) => string): string {
    const text = this.#container(type, selected, []);
    const check = textWithConstants(requireFew(sql`count(*)`, sql`0`));
    return `(select case when ${check} then ${text} end from (${this.#rows(rowsOf)}) ${this.#alias})`;
  }

  /** The text of the list of groups. */
  ofGroups(
    type: GraphQLObjectType,
    selected: SelectedField,
    groups: readonly Group[],
    rowsOf: (alias: string) => string,
  ): string {
    const keys = groups.map((group) => textWithConstants(groupText(group, this.#use(group))));
    const values = groups.map((group) => textWithConstants(group.wrap(this.#use(group))));
    const text = this.#container(type, selected, keys);
    const found = this.#compilation.alias();
    const columns = [`${text} as t`, "count(*) as c", ...keys.map((key, index) => `${key} as k${index}`)];
    const by = values.length > 0 ? ` group by ${values.join()}` : "";
    const order = keys.map((_key, index) => `${found}.k${index} collate "C"`);
    const sorted = order.length > 0 ? ` order by ${order.join()}` : "";
    const check = textWithConstants(requireFew(sql`coalesce(sum(c),0)`, sql`count(*)`));
    const list = `'['||coalesce(string_agg(${found}.t,','${sorted}),'')||']'`;
    const grouped = `select ${columns.join()} from (${this.#rows(rowsOf)}) ${this.#alias}${by}`;
    return `(select case when ${check} then ${list} end from (${grouped}) ${found})`;
  }

  #use({ column, attribute }: Pick<Group, "column" | "attribute">): SQL {
    this.#columns.set(column, attribute);
    return inner(column, this.#alias);
  }

  /** One row more than may be, so that it is known whether there are more. */
  #rows(rowsOf: (alias: string) => string): string {
    const alias = this.#compilation.alias();
    const columns = [...this.#columns].map(
      ([name, attribute]) =>
        `${textWithConstants(valueOf(sql.identifier(alias), name, attribute))} as ${identifier(name)}`,
    );
    return `select ${columns.join()} ${rowsOf(alias)} limit ${maxAggregated + 1}`;
  }

  #container(type: GraphQLObjectType, selected: SelectedField, keys: readonly string[]): string {
    return concatenated(
      this.#object(type, selected, (field, source, part) => {
        if (source.kind === "entryCount") return [expression("count(*)::text")];
        if (source.kind === "groupKeys") return [expression(listOfKeys(keys))];
        if (source.kind !== "aggregate") throw new NotCovered(source.kind);
        return this.#object(objectType(field), part, (value, of) => {
          if (of.kind !== "aggregated") throw new NotCovered(of.kind);
          return [expression(this.#value(value, of.aggregate))];
        });
      }),
    );
  }

  #value({ type, name }: GraphQLField<unknown, unknown>, aggregate: Aggregate): string {
    const { codec, wrap } = aggregate;
    const encode = encoderOf(codec, type);
    if (!encode) throw new NotCovered(`${codec.name} as ${name}`);
    const value = `(${textWithConstants(wrap(this.#use(aggregate)))})`;
    return isNonNullType(type) ? encode(value) : `coalesce(${encode(value)},'null')`;
  }

  #object(
    type: GraphQLObjectType,
    selected: SelectedField,
    piecesOf: (
      field: GraphQLField<unknown, unknown>,
      source: ReturnType<typeof understood>["source"],
      part: SelectedField,
    ) => Piece[],
  ): Piece[] {
    const fields = this.#compilation.select(type, selected).map(([key, part]): [string, Piece[]] => {
      if (part.name === "__typename") return [key, typename(type)];
      const { field, source } = understood(type, part.name);
      return [key, piecesOf(field, source, part)];
    });
    return fields.length > 0 ? objectPieces(fields) : [json("{}")];
  }
}

/** As a list of texts; null without a group. */
function listOfKeys(keys: readonly string[]): string {
  if (keys.length === 0) return quoted("null");
  return `'['||${keys.map((key) => `coalesce(to_json(${key})::text,'null')`).join("||','||")}||']'`;
}

function objectType({ type, name }: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const named = getNamedType(type);
  if (!isObjectType(named)) throw new NotCovered(`type of ${name}`);
  return named;
}
