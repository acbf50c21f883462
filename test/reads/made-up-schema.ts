import fc from "fast-check";

/** A table that nobody thought of, with the view of it. */
export interface MadeUpTable {
  /** Types of the columns of its key. */
  key: readonly string[];
  /** Whether a key of one column is called `id`. */
  isNamedId: boolean;
  columns: readonly { type: string; isRequired: boolean; isOrdered: boolean }[];
  /** Which tables it points at: numbers of tables before it, or its own. */
  references: readonly number[];
  rows: number;
  /** Functions of its rows: types of their arguments, and what they return. */
  functions: readonly { arguments: readonly string[]; defaults: number; returns: string | null }[];
}

/** Types, with some of their values as SQL. */
const values: Readonly<Record<string, readonly string[]>> = {
  uuid: [1, 2, 3, 4, 5, 6].map((n) => `'01980000-0000-7000-8000-00000000000${n}'`),
  smallint: ["-3", "0", "1", "7", "32767", "-32768"],
  integer: ["-3", "0", "1", "10", "2147483647", "-2147483648"],
  bigint: ["-3", "0", "1", "9007199254740993", "9223372036854775807", "-9223372036854775808"],
  numeric: ["0", "1.50", "-2.25", "12345678901234567890.123456789", "0.001"],
  text: ["''", "'a'", "'A/b%c'", "'ä:~'", "'quote \" \\ '''", "'100%25'"],
  "varchar(20)": ["''", "'x'", "'X'", "'/'", "'%2F'", "'💥'"],
  "char(3)": ["'a'", "'ab'", "'abc'", "'A'", "'%'", "'/'"],
  "made_up.citext": ["'a'", "'B'", "'c'", "'D/'", "'Ä'"],
  boolean: ["true", "false"],
  date: ["'2026-01-01'", "'0001-01-01'", "'2024-02-29'", "'infinity'", "'0044-03-15 BC'", "'1999-12-31'"],
  timestamp: ["'2026-01-01 00:00'", "'2026-06-30 08:15:00.123456'", "'1999-12-31 23:59:59'", "'2000-02-29'"],
  timestamptz: [
    "'2026-01-01 00:00Z'",
    "'2026-06-30 08:15:00.5+02'",
    "'2026-06-30 08:15:00.75+02'",
    "'2000-02-29'",
  ],
  time: ["'00:00'", "'08:15:30.25'", "'23:59:59.999999'", "'12:00'"],
  interval: ["'1 day'", "'-3 months 2 hours'", "'1.5 s'", "'0'", "'14 months'"],
  bytea: ["''", "'\\x00ff'", "'abc'", "'\\xdeadbeef'"],
  inet: ["'10.0.0.1'", "'10.0.0.0/8'", "'::1'", "'2001:db8::/32'"],
  "made_up.mood": ["'so so'", "'größer'", "'Fine'", "'a/b'", "'%'"],
  "made_up.positive": ["1", "2", "3", "100", "2147483647"],
  "double precision": ["0", "1.5", "-1e300", "1e-7", "123456.789"],
  jsonb: [`'{"a": [1, null]}'`, "'[]'", "'1'", `'"x"'`],
  "text[]": ["'{}'", "'{a,b}'", `'{""}'`, `'{ä,"q\\""}'`],
  "uuid[]": ["'{}'", "'{01980000-0000-7000-8000-000000000001}'"],
  int4range: ["'[1,10)'", "'empty'", "'[5,)'"],
  "made_up.mood[]": ["'{}'", `'{"so so",größer}'`, "'{Fine}'"],
  "bigint[]": ["'{}'", "'{1,9007199254740993}'"],
  "timestamptz[]": ["'{}'", "'{2026-01-01 00:00Z,2026-06-30 08:15:00.5+02}'"],
  "date[]": ["'{}'", "'{2026-01-01,infinity}'"],
  daterange: ["'[2026-01-01,2026-02-01)'", "'empty'", "'(,2026-01-01)'"],
  "integer[]": ["'{}'", "'{1,2}'", "'{-5}'"],
  tstzrange: ["'[2026-01-01 00:00Z,2026-06-30 08:15:00Z)'", "'empty'", "'(,2026-01-01 00:00Z)'"],
};
const types = Object.keys(values);
const keyTypes = types.filter((type) => !/json|\[\]/.test(type));

// A value that a domain refuses is no mistake of the executors
const argumentTypes = types.filter((type) => !/^"|char\(|positive/.test(type));

const table: fc.Arbitrary<MadeUpTable> = fc.record({
  key: fc.array(fc.constantFrom("bigint", "integer", "uuid", "text", ...keyTypes), {
    minLength: 1,
    maxLength: 3,
  }),
  isNamedId: fc.boolean(),
  columns: fc.array(
    fc.record({ type: fc.constantFrom(...types), isRequired: fc.boolean(), isOrdered: fc.boolean() }),
    { maxLength: 7 },
  ),
  references: fc.array(fc.nat(4), { maxLength: 2 }),
  rows: fc.integer({ min: 0, max: 12 }),
  functions: fc.array(
    fc.record({
      arguments: fc.array(fc.constantFrom(...argumentTypes), { minLength: 1, maxLength: 3 }),
      defaults: fc.nat(3),
      returns: fc.option(fc.constantFrom("text", "bigint", "numeric", "boolean", "text[]", "jsonb", "uuid")),
    }),
    { maxLength: 3 },
  ),
});

export interface MadeUpSchema {
  tables: readonly MadeUpTable[];
  /** Whether bigint and numeric are texts. */
  isExact: boolean;
}

export const madeUpSchema: fc.Arbitrary<MadeUpSchema> = fc.record({
  tables: fc.array(table, { minLength: 1, maxLength: 4 }),
  isExact: fc.boolean(),
});

const keyNames = ({ key, isNamedId }: MadeUpTable): string[] =>
  // What clients couldn't tell from a global id is refused
  key.length === 1 && isNamedId && !/range|citext/.test(key[0]!)
    ? ["id"]
    : key.map((_type, index) => `k${index}`);

/** The SQL that makes the tables, and views of them in the schema `made_up_api`. */
export function madeUpSql({ tables, isExact }: MadeUpSchema): string {
  return [
    "drop schema if exists made_up cascade; drop schema if exists made_up_api cascade;",
    "create schema made_up; create schema made_up_api;",
    isExact ? "comment on schema made_up_api is '@floats';" : "",
    "create extension citext schema made_up;",
    "create type made_up.mood as enum ('so so', 'größer', 'Fine', 'a/b', '%');",
    "create domain made_up.positive as integer check (value > 0);",
    ...tables.map((made, number) => tableSql(made, number, tables)),
  ].join("\n");
}

interface Column {
  name: string;
  type: string;
  isRequired: boolean;
  isOrdered?: boolean;
}

interface Pointer {
  to: number;
  remote: string[];
  columns: Column[];
}

function pointersOf({ references }: MadeUpTable, number: number, tables: readonly MadeUpTable[]): Pointer[] {
  return references.map((reference, index) => {
    const to = Math.min(reference, number);
    const remote = keyNames(tables[to]!);
    const columns = remote.map((column, part) => ({
      name: `r${index}_${column}`,
      type: tables[to]!.key[part]!,
      isRequired: false,
    }));
    return { to, remote, columns };
  });
}

/** A value for a row: ever others, and null where that may be. */
function pick({ type, isRequired }: Column, index: number, row: number): string {
  const some = values[type]!;
  return some[(row * (index + 1) + (row >> 2) + index) % (some.length + (isRequired ? 0 : 1))] ?? "null";
}

function tableSql(made: MadeUpTable, number: number, tables: readonly MadeUpTable[]): string {
  const [name, keys] = [`thing_${number}`, keyNames(made)];
  const pointers = pointersOf(made, number, tables);
  const columns: Column[] = [
    ...keys.map((key, index) => ({ name: key, type: made.key[index]!, isRequired: true })),
    ...made.columns.map((column, index) => ({ name: `c${index}`, ...column })),
    ...pointers.flatMap((pointer) => pointer.columns),
  ];
  const relations = pointers.map(({ to, columns: local, remote }, index) => {
    const names = local.map((column) => column.name);
    const fields = `@fieldName to${number}${index}|@foreignFieldName from${number}${index}`;
    return `@foreignKey (${names.join()}) references thing_${to}s (${remote.join()})|${fields}`;
  });
  const containers = columns.filter(({ type }) => /json|\[\]/.test(type));
  const filtered = ["*", ...containers.map((column) => column.name)];
  const tags = [
    `@primaryKey ${keys.join()}`,
    "@requiresScopes things:read",
    `@filters ${filtered.join()}`,
    ...relations,
  ];
  const definitions = columns.map(
    (column) => `${column.name} ${column.type}${column.isRequired ? " not null" : ""}`,
  );
  return [
    `create table made_up.${name} (${definitions.join(", ")}, primary key (${keys.join()}));`,
    `create view made_up_api.${name}s as select * from made_up.${name};`,
    `comment on view made_up_api.${name}s is '${tags.join("\n")}';`,
    `create function made_up_api.${name}s_worked_out(made made_up_api.${name}s) returns numeric stable language sql`,
    `return length(made.${keys[0]}::text) + 0.50;`,
    ...functionsSql(made, number),
    ...Array.from({ length: made.rows }, (_row, row) => {
      const picked = columns.map((column, index) => pick(column, index, row));
      return `insert into made_up.${name} values (${picked.join(", ")}) on conflict do nothing;`;
    }),
    ...columns.map((column) => {
      const columnTags = [column.isRequired ? "@notNull" : "", column.isOrdered ? "@orders" : ""].join("\n");
      return `comment on column made_up_api.${name}s.${column.name} is '${columnTags.trim()}';`;
    }),
  ].join("\n");
}

/** Functions that return a value of a row, one row or rows of the table, for a row or not, or a composite type. */
function functionsSql({ functions, columns }: MadeUpTable, number: number): string[] {
  const view = `made_up_api.thing_${number}s`;
  const parts = columns.map(({ type }, index) => `c${index} ${type}`);
  const composite = `made_up_api.part_${number}`;
  const partSql = `create type ${composite} as (${["weight bigint", ...parts].join(", ")});`;
  const made = functions.flatMap(functionSql);
  return made.length > 0 ? [partSql, ...made] : [];

  function functionSql(
    { arguments: given, defaults, returns }: MadeUpTable["functions"][number],
    index: number,
  ) {
    const names = given.map((_type, part) => `an_argument_${part}`);
    const declared = given.map((type, part) => {
      const isOptional = part >= given.length - defaults;
      return `${names[part]} ${type}${isOptional ? ` default ${values[type]![0]!}` : ""}`;
    });
    const weight = `length(concat(${names.join(", ")}))`;
    const make = (name: string, parameters: string[], result: string, body: string) =>
      `create function ${view}_${name}(${parameters.join(", ")}) returns ${result} stable language sql begin atomic ${body}; end;`;
    const row = `made ${view}`;
    const some = `select * from ${view} t where (length(t::text) + ${weight}) % 3 <> 0`;
    const near = `${some} and t.* is distinct from made.*`;
    if (returns !== null)
      return [make(`of_${index}`, [row, ...declared], returns, `select ${madeOf(returns, weight)}`)];
    const one = "order by t::text limit 1";
    const part = (rows: string) =>
      `select row(${[`nullif(${weight}, 1)`, ...columns.map((_column, n) => `t.c${n}`)].join()})::${composite} from (${rows} ${one}) t`;
    const whole = `${view}_whole_${index}`;
    return [
      make(`some_${index}`, declared, `setof ${view}`, some),
      make(`near_${index}`, [row, ...declared], `setof ${view}`, near),
      make(`first_${index}`, declared, view, `${some} ${one}`),
      make(`nearest_${index}`, [row, ...declared], view, `${near} ${one}`),
      make(`whole_${index}`, declared, composite, part(some)),
      `comment on function ${whole} is '@requiresScopes things:read';`,
      make(`part_${index}`, [row, ...declared], composite, part(near)),
    ];
  }
}

/** A value of a type, or null. */
function madeOf(type: string, number: string): string {
  const made: Readonly<Record<string, string>> = {
    "text[]": `array[${number}::text]`,
    boolean: `${number} % 2 = 0`,
    jsonb: `to_jsonb(${number})`,
    uuid: `lpad(${number}::text, 32, '0')::uuid`,
  };
  return `case when ${number} % 5 <> 0 then ${made[type] ?? `${number}::${type}`} end`;
}
