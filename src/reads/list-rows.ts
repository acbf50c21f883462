import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { PageArguments } from "./arguments.ts";
import type { Compilation } from "./compilation.ts";
import { buildFrom, buildJoinText } from "./compilation.ts";
import { buildCursor } from "./cursors.ts";
import type { ListSource } from "./field-source.ts";
import { buildCondition } from "./filter-conditions.ts";
import type { StageSql } from "./followed.ts";
import { openTransactions } from "./followed.ts";
import { quoteIdentifier, toSqlText } from "./json-text.ts";
import { isUuidKey, buildKeyText, parameterType, buildRowValue } from "./keys.ts";
import type { SelectedField } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";
import { buildOrderTerms, buildPlaceText } from "./orders.ts";
import { createCursorList } from "./page-request.ts";
import type { StageValues } from "./cursor-values.ts";
import type { Range } from "./ranges.ts";
import { buildPartConditions } from "./ranges.ts";
import { buildSearchCondition } from "./search-words.ts";
import { listText } from "../graphql/cursor.ts";

/** SQL of the rows of a list: where they come from, their order, and their cursors. */
export class ListRows {
  readonly #compilation: Compilation;
  readonly #list: ListSource;
  readonly #selected: SelectedField;
  readonly #parent: string | null;
  readonly #page: PageArguments;

  constructor(compilation: Compilation, list: ListSource, selected: SelectedField, parent: string | null) {
    this.#compilation = compilation;
    this.#list = list;
    this.#selected = selected;
    this.#parent = parent;
    this.#page = compilation.getArgument(selected.node, "page");
  }

  /**
   * Returns SQL of the filtered rows of a part of the list, from `from` to the end of the conditions. If there are several, the
   * part consists of them in this order; each can use an index.
   */
  buildFromClauses(range: Range, alias: string): string[] {
    return this.#conditions(range, alias).map((condition) => this.#rows(alias, condition));
  }

  /** Returns SQL of the order in which the page is read. */
  buildOrder(alias: string): string[] {
    const { order, isBackward } = this.#page;
    return buildOrderTerms(order, sql.identifier(alias), isBackward).map(toSqlText);
  }

  /** Returns SQL of the text in cursors that identifies a row: its key if that is a uuid, or the text of its place. */
  buildKey(alias: string): string {
    const { key } = this.#list;
    const { order } = this.#page;
    if (!order.isDefault) return toSqlText(buildPlaceText(order, sql.identifier(alias)));
    return isUuidKey(key)
      ? `${alias}.${quoteIdentifier(key[0].name)}`
      : toSqlText(buildKeyText(key, sql.identifier(alias)));
  }

  /** Returns SQL of the cursor of the row with a key. */
  buildCursor(key: string): string {
    const { after, order } = this.#page;
    const cursorList = createCursorList(this.#list, order);
    if (!cursorList.followed) return buildCursor(listText(cursorList), key);
    const before = (after ?? []).flatMap(({ key: [farther], text }) =>
      text === null ? [] : [{ key: this.#value(farther!, "uuid"), text: this.#value(text, "text") }],
    );
    return buildCursor(listText(cursorList), key, insertParameters(openTransactions, []).text, before);
  }

  #rows(alias: string, condition: string | null): string {
    const { resource, hops, call } = this.#list;
    const parent = call?.takesRow ? this.#parent : null;
    const source = call
      ? this.#compilation.buildCall(this.#selected.node, call, parent)
      : buildFrom(resource);
    let from = `from ${source} ${alias}`;
    const conditions: string[] = [];
    let [current, last] = [alias, hops.length - 1];
    for (; last > 0; last--) {
      const link = this.#compilation.createAlias();
      from += ` join ${buildFrom(hops[last - 1]!.to)} ${link} on ${buildJoinText(hops[last]!, link, current)}`;
      current = link;
    }
    if (hops[0]) conditions.push(buildJoinText(hops[0], this.#parent!, current));
    if (condition !== null) conditions.push(`(${condition})`);
    const found = this.#buildSearchCondition(alias);
    if (found) conditions.push(`(${found})`);
    const filter = this.#filter(alias);
    if (filter) conditions.push(`(${filter})`);
    return conditions.length > 0 ? `${from} where ${conditions.join(" and ")}` : from;
  }

  /** Returns the conditions of a part of the list, one for each index scan. */
  #conditions(range: Range, alias: string): (string | null)[] {
    const { after, before, order } = this.#page;
    const places: string[] = [];
    const rows = { alias: sql.identifier(alias), key: this.#list.key, followed: this.#list.followed };
    const conditions = buildPartConditions(range, order, rows, {
      after: after && {
        place: () => this.#place(after[0]!, places),
        stages: () => this.#stages(after, places),
      },
      before: before && { place: () => this.#place(before, places) },
    });
    return conditions.map((condition) => condition && insertParameters(condition, places).text);
  }

  #place({ key }: StageValues, places: string[]): (SQL | null)[] {
    const { columns } = this.#page.order;
    return key.map((index, part) =>
      index === null
        ? null
        : sql.value(places.push(this.#value(index, toSqlText(parameterType(columns[part]!))))),
    );
  }

  #stages(after: readonly StageValues[], places: string[]): [StageSql, ...StageSql[]] {
    const stages = after.map((stage) => ({
      key: buildRowValue(this.#place(stage, places) as SQL[]),
      open: stage.open === null ? null : sql.value(places.push(this.#value(stage.open, "int8multirange"))),
    }));
    return stages as [StageSql, ...StageSql[]];
  }

  #value(index: number, type: string): string {
    return this.#compilation.addParameter(this.#selected.node, index, type);
  }

  #buildSearchCondition(alias: string): string | null {
    const { search } = this.#page;
    if (search === null) return null;
    const found = buildSearchCondition(this.#list.search!, sql.identifier(alias), sql.value(1));
    return insertParameters(found, [this.#value(search, "text[]")]).text;
  }

  #filter(alias: string): string | null {
    const { filter, filterIndex } = this.#page;
    const { node } = this.#selected;
    let index = filterIndex;
    const places: string[] = [];
    const condition = buildCondition(filter, sql.identifier(alias), ({ type }) => {
      places.push(this.#compilation.addParameter(node, index++, sql.compile(type).text));
      return sql.value(places.length);
    });
    if (!condition) return null;
    const { text, count } = insertParameters(condition, places);
    if (count !== places.length) throw new UnsupportedOperation("a filter with dollar signs");
    return text;
  }
}

/**
 * Inserts parameters into a fragment whose values are their numbers, from 1.
 *
 * @returns the text, and how many parameters were inserted
 */
function insertParameters(fragment: SQL, places: readonly string[]): { text: string; count: number } {
  const { text, values } = sql.compile(fragment);
  let count = 0;
  const filled = text.replace(/\$(\d+)/g, (_match, number: string) => {
    count++;
    return places[(values[Number(number) - 1] as number) - 1]!;
  });
  return { text: filled, count };
}
