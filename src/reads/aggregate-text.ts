import type { PgCodecAttribute } from "postgraphile/@dataplan/pg";
import type { GraphQLObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Compilation, Field } from "./compilation.ts";
import { requireObjectType } from "./compilation.ts";
import type { Aggregate, Group } from "./aggregation.ts";
import { buildGroupText, maxAggregated, buildSizeCheck, buildColumnValue } from "./aggregation.ts";
import { concatenate, sqlPiece, quoteIdentifier, quoteLiteral, toSqlTextWithConstants } from "./json-text.ts";
import type { SelectedField } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";
import { buildJson } from "./values.ts";

/** The SQL of a column of the rows of a subquery. */
const buildInnerColumn = (name: string, alias: string): SQL => sql.identifier(alias, name);

/** SQL of the aggregates of a list. All of them read the same rows: {@link rows}. */
export class AggregateText {
  readonly #compilation: Compilation;
  readonly #name: string;
  readonly #alias: string;
  /** The columns that the aggregates use. */
  readonly #columns = new Map<string, PgCodecAttribute>();

  constructor(compilation: Compilation) {
    this.#compilation = compilation;
    this.#name = compilation.createAlias();
    this.#alias = compilation.createAlias();
  }

  /**
   * Returns the `with` clause of the query that has the texts of this list. It has to be called after them. Postgres reads the
   * rows once if several texts use them, and inlines the clause if only one does.
   *
   * @param rowsOf returns SQL from `from` to the end of the conditions
   */
  rows(rowsOf: (alias: string) => string): string {
    const alias = this.#compilation.createAlias();
    const columns = [...this.#columns].map(
      ([name, attribute]) =>
        `${toSqlTextWithConstants(buildColumnValue(sql.identifier(alias), name, attribute))} as ${quoteIdentifier(name)}`,
    );
    // One more than the maximum, which shows whether there are more
    return `with ${this.#name} as (select ${columns.join()} ${rowsOf(alias)} limit ${maxAggregated + 1})`;
  }

  /** Returns SQL of the JSON text of the aggregates of all rows. */
  buildAll(type: GraphQLObjectType, selected: SelectedField): string {
    const text = this.#container(type, selected, []);
    const check = toSqlTextWithConstants(buildSizeCheck(sql`count(*)`, sql`0`));
    return `(select case when ${check} then ${text} end from ${this.#name} ${this.#alias})`;
  }

  /** Returns SQL of the JSON text of the list of groups. */
  buildGroups(type: GraphQLObjectType, selected: SelectedField, groups: readonly Group[]): string {
    const keys = groups.map((group) => toSqlTextWithConstants(buildGroupText(group, this.#use(group))));
    const values = groups.map((group) => toSqlTextWithConstants(group.wrap(this.#use(group))));
    const text = this.#container(type, selected, keys);
    const found = this.#compilation.createAlias();
    const columns = [`${text} as t`, "count(*) as c", ...keys.map((key, index) => `${key} as k${index}`)];
    const by = values.length > 0 ? ` group by ${values.join()}` : "";
    const order = keys.map((_key, index) => `${found}.k${index} collate "C"`);
    const sorted = order.length > 0 ? ` order by ${order.join()}` : "";
    const check = toSqlTextWithConstants(buildSizeCheck(sql`coalesce(sum(c),0)`, sql`count(*)`));
    const list = `'['||coalesce(string_agg(${found}.t,','${sorted}),'')||']'`;
    const grouped = `select ${columns.join()} from ${this.#name} ${this.#alias}${by}`;
    return `(select case when ${check} then ${list} end from (${grouped}) ${found})`;
  }

  #use({ column, attribute }: Pick<Group, "column" | "attribute">): SQL {
    this.#columns.set(column, attribute);
    return buildInnerColumn(column, this.#alias);
  }

  #container(type: GraphQLObjectType, selected: SelectedField, keys: readonly string[]): string {
    return concatenate(
      this.#compilation.buildObject(type, selected, (field, source, part) => {
        if (source.kind === "entryCount") return [sqlPiece("count(*)::text")];
        if (source.kind === "groupKeys") return [sqlPiece(buildKeyList(keys))];
        if (source.kind !== "aggregate") throw new UnsupportedOperation(source.kind);
        return this.#compilation.buildObject(requireObjectType(field), part, (value, of) => {
          if (of.kind !== "aggregated") throw new UnsupportedOperation(of.kind);
          return [sqlPiece(this.#value(value, of.aggregate))];
        });
      }),
    );
  }

  #value(field: Field, aggregate: Aggregate): string {
    const value = `(${toSqlTextWithConstants(aggregate.wrap(this.#use(aggregate)))})`;
    return buildJson(aggregate.codec, field, value);
  }
}

/** Returns SQL of the keys as a JSON list of texts; null without a group. */
function buildKeyList(keys: readonly string[]): string {
  if (keys.length === 0) return quoteLiteral("null");
  return `'['||${keys.map((key) => `coalesce(to_json(${key})::text,'null')`).join("||','||")}||']'`;
}
