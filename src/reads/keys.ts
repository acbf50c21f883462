import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import type { KeyPart } from "../graphql/key-forms.ts";

/** A column of the primary key of a view. */
export interface KeyColumn extends KeyPart {
  /** Name in SQL. */
  name: string;
  /** The name of its type in Postgres, without that of a domain. */
  typeName: string;
  /** The same in SQL. */
  type: SQL;
  /** Whether its values are compared as their texts: no check here can tell values of its type from other texts. */
  asText: boolean;
}

/** The primary key of a view. Lists are ordered by it. */
export type Key = readonly [KeyColumn, ...KeyColumn[]];

/** Whether a key is one uuid, which is the text of itself. */
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

/** Spelled so whatever the settings of the session are. */
const spelled: Readonly<Record<string, (column: SQL) => SQL>> = {
  date: (column) => sql`(to_json(${column})#>>'{}')`,
  timestamp: (column) => sql`(to_json(${column})#>>'{}')`,
  timestamptz: (column) => sql`(to_json(${column} at time zone 'UTC')#>>'{}'||'Z')`,
  bytea: (column) => sql`('\\x'||encode(${column},'hex'))`,
  inet: (column) => sql`(to_json(${column})#>>'{}')`,
  interval,
};

/** The text of a value, whatever the settings of the session are. */
export const textOf = (typeName: string, column: SQL): SQL =>
  spelled[typeName]?.(column) ?? sql`${column}::text`;

const withoutSigns = new Set(["uuid", "int2", "int4", "int8", "numeric", "bool", "date", "timestamp"]);

/** Whether texts of values have no sign that means something in JSON, or in texts of keys. */
export const isPlainText = (typeName: string): boolean => withoutSigns.has(typeName);

/** The text of a value in the text of a key. */
export function partTextOf(typeName: string, column: SQL): SQL {
  const text = textOf(typeName, column);
  return isPlainText(typeName) ? text : sql`replace(replace(${text},'%','%25'),'/','%2F')`;
}

/** What a value is compared by. */
export function comparable({ name, typeName, asText }: KeyColumn, rows: SQL): SQL {
  const column = sql`${rows}.${sql.identifier(name)}`;
  return asText ? sql`${textOf(typeName, column)} collate "C"` : column;
}

/** The columns of a key, as lists are ordered by them. */
export const orderOf = (key: Key, rows: SQL): SQL[] => key.map((column) => comparable(column, rows));

/** The columns of a key as one value, to be compared. */
export const rowOf = (values: readonly SQL[]): SQL =>
  values.length === 1 ? values[0]! : sql.parens(sql.join(values, ","));

/** The type of a parameter that a column of a key is compared with. */
export const parameterType = ({ type, asText }: KeyColumn): SQL => (asText ? sql`text` : type);

/** The text of the key of a row: the same that `writeKey` makes (src/graphql/key-forms.ts). */
export function keyTextOf(key: Key, rows: SQL): SQL {
  const texts = key.map(({ name, typeName }) => partTextOf(typeName, sql`${rows}.${sql.identifier(name)}`));
  return texts.length === 1 ? texts[0]! : sql.parens(sql.join(texts, "||'/'||"));
}
