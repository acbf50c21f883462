import type { PgCodecAttribute } from "postgraphile/@dataplan/pg";
import type { GraphQLField, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isNonNullType, isObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Compilation } from "./compilation.ts";
import { typename, understood } from "./compilation.ts";
import type { Aggregate, Group } from "./groups.ts";
import { groupText, maxAggregated, requireFew, valueOf } from "./groups.ts";
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

/** The text of a value of a column within the rows of a subquery. */
const inner = (name: string, alias: string): SQL => sql.identifier(alias, name);

/** Aggregates of the rows of a list, all of which read the same rows: {@link rows}. */
export class AggregateText {
  readonly #compilation: Compilation;
  readonly #name: string;
  readonly #alias: string;
  /** The columns that are read of the rows. */
  readonly #columns = new Map<string, PgCodecAttribute>();

  constructor(compilation: Compilation) {
    this.#compilation = compilation;
    this.#name = compilation.alias();
    this.#alias = compilation.alias();
  }

  /**
   * The clause before the query that has the texts of this list, made after them. Postgres reads the rows once where
   * more than one text does, and makes the clause part of the only one.
   *
   * @param rowsOf makes SQL from `from` to the end of the conditions
   */
  rows(rowsOf: (alias: string) => string): string {
    const alias = this.#compilation.alias();
    const columns = [...this.#columns].map(
      ([name, attribute]) =>
        `${textWithConstants(valueOf(sql.identifier(alias), name, attribute))} as ${identifier(name)}`,
    );
    // One more than may be, so that it is known whether there are more
    return `with ${this.#name} as (select ${columns.join()} ${rowsOf(alias)} limit ${maxAggregated + 1})`;
  }

  /** The text of all rows together. */
  ofAll(type: GraphQLObjectType, selected: SelectedField): string {
    const text = this.#container(type, selected, []);
    const check = textWithConstants(requireFew(sql`count(*)`, sql`0`));
    return `(select case when ${check} then ${text} end from ${this.#name} ${this.#alias})`;
  }

  /** The text of the list of groups. */
  ofGroups(type: GraphQLObjectType, selected: SelectedField, groups: readonly Group[]): string {
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
    const grouped = `select ${columns.join()} from ${this.#name} ${this.#alias}${by}`;
    return `(select case when ${check} then ${list} end from (${grouped}) ${found})`;
  }

  #use({ column, attribute }: Pick<Group, "column" | "attribute">): SQL {
    this.#columns.set(column, attribute);
    return inner(column, this.#alias);
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
