import type { PgCodecAttribute } from "postgraphile/@dataplan/pg";
import type { GraphQLObjectType } from "postgraphile/graphql";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { Compilation, Field } from "./compilation.ts";
import { objectTypeOf } from "./compilation.ts";
import type { Aggregate, Group } from "./aggregation.ts";
import { groupText, maxAggregated, requireFew, valueOf } from "./aggregation.ts";
import { concatenated, expression, identifier, quoted, textWithConstants } from "./json-text.ts";
import type { SelectedField } from "./selection.ts";
import { NotCovered } from "./selection.ts";
import { valueText } from "./values.ts";

/** The SQL of a column of the rows of a subquery. */
const inner = (name: string, alias: string): SQL => sql.identifier(alias, name);

/** SQL of the aggregates of a list. All of them read the same rows: {@link rows}. */
export class AggregateText {
  readonly #compilation: Compilation;
  readonly #name: string;
  readonly #alias: string;
  /** The columns that the aggregates use. */
  readonly #columns = new Map<string, PgCodecAttribute>();

  constructor(compilation: Compilation) {
    this.#compilation = compilation;
    this.#name = compilation.alias();
    this.#alias = compilation.alias();
  }

  /**
   * Returns the `with` clause of the query that has the texts of this list. It has to be called after them. Postgres reads the
   * rows once if several texts use them, and inlines the clause if only one does.
   *
   * @param rowsOf returns SQL from `from` to the end of the conditions
   */
  rows(rowsOf: (alias: string) => string): string {
    const alias = this.#compilation.alias();
    const columns = [...this.#columns].map(
      ([name, attribute]) =>
        `${textWithConstants(valueOf(sql.identifier(alias), name, attribute))} as ${identifier(name)}`,
    );
    // One more than the maximum, which shows whether there are more
    return `with ${this.#name} as (select ${columns.join()} ${rowsOf(alias)} limit ${maxAggregated + 1})`;
  }

  /** Returns SQL of the JSON text of the aggregates of all rows. */
  ofAll(type: GraphQLObjectType, selected: SelectedField): string {
    const text = this.#container(type, selected, []);
    const check = textWithConstants(requireFew(sql`count(*)`, sql`0`));
    return `(select case when ${check} then ${text} end from ${this.#name} ${this.#alias})`;
  }

  /** Returns SQL of the JSON text of the list of groups. */
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
      this.#compilation.object(type, selected, (field, source, part) => {
        if (source.kind === "entryCount") return [expression("count(*)::text")];
        if (source.kind === "groupKeys") return [expression(listOfKeys(keys))];
        if (source.kind !== "aggregate") throw new NotCovered(source.kind);
        return this.#compilation.object(objectTypeOf(field), part, (value, of) => {
          if (of.kind !== "aggregated") throw new NotCovered(of.kind);
          return [expression(this.#value(value, of.aggregate))];
        });
      }),
    );
  }

  #value(field: Field, aggregate: Aggregate): string {
    const value = `(${textWithConstants(aggregate.wrap(this.#use(aggregate)))})`;
    return valueText(aggregate.codec, field, value);
  }
}

/** Returns SQL of the keys as a JSON list of texts; null without a group. */
function listOfKeys(keys: readonly string[]): string {
  if (keys.length === 0) return quoted("null");
  return `'['||${keys.map((key) => `coalesce(to_json(${key})::text,'null')`).join("||','||")}||']'`;
}
