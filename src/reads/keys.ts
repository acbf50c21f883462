import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { KeyPart } from "../graphql/key-forms.ts";

/** A column of the primary key of a view. */
export interface KeyColumn extends KeyPart {
  /** Name in SQL. */
  name: string;
  /** The name of its type in Postgres; for a domain, of its base type. */
  typeName: string;
  /** The type in SQL. */
  type: SQL;
  /** Whether its values are compared as text, because we can't check whether a text is a valid value of the type. */
  isComparedAsText: boolean;
}

/** The primary key of a view. Lists are sorted by it. */
export type Key = readonly [KeyColumn, ...KeyColumn[]];

/** Whether a key is one uuid, whose text needs no conversion. */
export const isUuidKey = (key: Key): boolean => key.length === 1 && key[0].typeName === "uuid";

const interval = (column: SQL): SQL => {
  const [years, months, days] = [sql`year`, sql`month`, sql`day`].map(
    (part) => sql`extract(${part} from ${column})`,
  );
  const [hours, minutes, seconds] = [sql`hour`, sql`minute`, sql`second`].map(
    (part) => sql`trim_scale(extract(${part} from ${column}))`,
  );
  return sql`('P'||${years!}||'Y'||${months!}||'M'||${days!}||'DT'||${hours!}||'H'||${minutes!}||'M'||${seconds!}||'S')`;
};

/** SQL of the text of values, by type, for types whose `::text` depends on settings of the session. */
const textBuilders: Readonly<Record<string, (column: SQL) => SQL>> = {
  date: (column) => sql`(to_json(${column})#>>'{}')`,
  timestamp: (column) => sql`(to_json(${column})#>>'{}')`,
  timestamptz: (column) => sql`(to_json(${column} at time zone 'UTC')#>>'{}'||'Z')`,
  bytea: (column) => sql`('\\x'||encode(${column},'hex'))`,
  inet: (column) => sql`(to_json(${column})#>>'{}')`,
  interval,
};

/** Returns SQL of the text of a value, which doesn't depend on settings of the session. */
export const buildStableText = (typeName: string, column: SQL): SQL =>
  textBuilders[typeName]?.(column) ?? sql`${column}::text`;

const typesWithoutEscaping = new Set([
  "uuid",
  "int2",
  "int4",
  "int8",
  "numeric",
  "bool",
  "date",
  "timestamp",
]);

/** Whether texts of a type's values contain no special character of JSON, or of the texts of keys. */
export const needsNoEscaping = (typeName: string): boolean => typesWithoutEscaping.has(typeName);

/** Returns SQL of the text of a value within the text of a key. */
export function buildKeyPartText(typeName: string, column: SQL): SQL {
  const text = buildStableText(typeName, column);
  return needsNoEscaping(typeName) ? text : sql`replace(replace(${text},'%','%25'),'/','%2F')`;
}

/** Returns SQL of the value that a column is compared by. */
export function buildComparable({ name, typeName, isComparedAsText: asText }: KeyColumn, rows: SQL): SQL {
  const column = sql`${rows}.${sql.identifier(name)}`;
  return asText ? sql`${buildStableText(typeName, column)} collate "C"` : column;
}

/** Returns SQL of the columns of a key, by which lists are sorted. */
export const buildKeyColumns = (key: Key, rows: SQL): SQL[] =>
  key.map((column) => buildComparable(column, rows));

/** Returns SQL of the columns of a key as one value, for comparisons. */
export const buildRowValue = (values: readonly SQL[]): SQL =>
  values.length === 1 ? values[0]! : sql.parens(sql.join(values, ","));

/** Returns the type of a parameter that a column of a key is compared with. */
export const parameterType = ({ type, isComparedAsText: asText }: KeyColumn): SQL =>
  asText ? sql`text` : type;

/** Returns SQL of the text of a row's key, the same that `writeKey` returns (src/graphql/key-forms.ts). */
export function buildKeyText(key: Key, rows: SQL): SQL {
  const texts = key.map(({ name, typeName }) =>
    buildKeyPartText(typeName, sql`${rows}.${sql.identifier(name)}`),
  );
  return texts.length === 1 ? texts[0]! : sql.parens(sql.join(texts, "||'/'||"));
}
