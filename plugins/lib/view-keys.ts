import type { PgCodec, PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
import { isEnumCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { Step } from "postgraphile/grafast";
import { access, inhibitOnNull, lambda } from "postgraphile/grafast";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { findKeyForm, labelForm, readKey, textForm, uuidKey, writeKey } from "../../src/graphql/key-forms.ts";
import { encodeGlobalId, requireKey, splitGlobalId } from "../../src/graphql/global-id.ts";
import { memoizeByObject } from "../../src/lib/remembered.ts";
import { getBaseCodec, getPgTypeName } from "../../src/reads/codecs.ts";
import type { Key, KeyColumn } from "../../src/reads/keys.ts";
import { buildKeyText, buildKeyColumns, parameterType, buildKeyPartText } from "../../src/reads/keys.ts";

declare global {
  namespace DataplanPg {
    interface PgCodecExtensions {
      /** The type whose global ids the codec reads and writes; not all are GraphQL types. */
      globalIdOf?: string;
    }
  }
}

/** Describes a column of a key or sort order. */
export function keyColumn(name: string, { codec }: PgCodecAttribute): KeyColumn {
  const base = getBaseCodec(codec);
  const typeName = getPgTypeName(base);
  const labels = isEnumCodec(base) ? base.values.map(({ value }) => value) : undefined;
  const form = labels ? labelForm(labels) : findKeyForm(typeName);
  return { name, typeName, type: base.sqlType, form: form ?? textForm, isComparedAsText: form === undefined };
}

/** Returns the primary key of a view; undefined if it has none. */
export const primaryKeyOf = memoizeByObject(({ codec, uniques }: PgResource): Key | undefined => {
  const names = uniques?.find(({ isPrimary }) => isPrimary)?.attributes ?? [];
  const [first, ...others] = names.map((name) =>
    keyColumn(name, codec.attributes![name] as PgCodecAttribute),
  );
  return first && [first, ...others];
});

interface GlobalIdCodecOptions {
  name: string;
  /** The column, for messages. */
  owner: string;
  typeName: string;
  /** The key of the type; undefined when there is no view of it. */
  key: Key | undefined;
  /** The column's own codec; undefined for a computed column. */
  column: PgCodec | undefined;
}

const families = [
  ["int2", "int4", "int8"],
  ["text", "varchar", "bpchar"],
];

/** Whether a foreign key of one type can point at a key of the other. */
const areComparable = (one: string, other: string): boolean =>
  one === other || families.some((family) => family.includes(one) && family.includes(other));

/** Makes the codec of columns that hold the one value of a key, or texts of keys. Outside SQL they are global ids. */
export function makeGlobalIdCodec({ name, owner, typeName, key, column }: GlobalIdCodecOptions): PgCodec {
  const parts = key ?? uuidKey;
  const base = column ? getBaseCodec(column) : TYPES.text;
  const pgType = getPgTypeName(base);
  const isValue =
    column !== undefined &&
    (key ? key.length === 1 && areComparable(key[0].typeName, pgType) : pgType === "uuid");
  if (!isValue && (pgType !== "text" || !key))
    throw new Error(`${owner} can't hold ids of ${typeName}: its type is ${pgType}`);
  return {
    name,
    sqlType: isValue && key ? key[0].type : base.sqlType,
    castFromPg: (value) => (isValue ? buildKeyPartText(pgType, sql.parens(value)) : sql.parens(value)),
    fromPg: (text: string) => encodeGlobalId(typeName, text),
    toPg(id: string) {
      const values = requireKey(typeName, parts, id);
      return isValue ? values[0]! : writeKey(values);
    },
    attributes: undefined,
    executor: null,
    hasNaturalEquality: true,
    hasNaturalOrdering: true,
    extensions: { globalIdOf: typeName, pgType },
  };
}

/** Adds a computed column `id` to a view: the text of its key. */
export function addIdColumn({ codec, name }: PgResource, key: Key, idCodec: PgCodec): void {
  const attributes = codec.attributes as Record<string, PgCodecAttribute>;
  if (attributes.id) {
    const columns = key.map((column) => column.name).join(", ");
    throw new Error(
      `${name}: its column id clashes with the global id, which is made of its key (${columns})`,
    );
  }
  const others = Object.entries(attributes);
  for (const [column] of others) delete attributes[column];
  attributes.id = {
    codec: idCodec,
    notNull: true,
    expression: (rows: SQL) => buildKeyText(key, rows),
    extensions: { tags: {} },
  } as PgCodecAttribute;
  Object.assign(attributes, Object.fromEntries(others));
}

/** Finds a row by its global id, where the id isn't a column: the library looks up columns only. */
export function findByKey(resource: PgResource, $id: Step): Step {
  const key = primaryKeyOf(resource)!;
  const $rows = resource.find();
  const $values = lambda(inhibitOnNull($id), (id) => readKey(key, splitGlobalId(id)!.key));
  buildKeyColumns(key, $rows.alias).forEach((column, index) => {
    const value = $rows.placeholder(access($values, [index]), TYPES.text);
    $rows.where(sql`${column} = ${value}::${parameterType(key[index]!)}`);
  });
  return $rows.single();
}
