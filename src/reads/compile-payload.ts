import type { FieldNode, GraphQLObjectType, GraphQLOutputType } from "postgraphile/graphql";
import { getNamedType, isObjectType } from "postgraphile/graphql";
import type { FieldArguments } from "./arguments.ts";
import type { Statement } from "./compilation.ts";
import { Compilation, buildFrom, requireField } from "./compilation.ts";
import { quoteIdentifier, quoteLiteral } from "./json-text.ts";
import { isUuidKey } from "./keys.ts";
import type { FieldSource } from "./field-source.ts";
import { buildObject } from "./objects.ts";
import type { CoercedVariables, ReadableOperation, SelectedField } from "./selection.ts";
import { UnsupportedOperation } from "./selection.ts";

/** A field of a payload in the response. */
export type PayloadPart =
  | { kind: "typename" }
  /** A column of the statement has its JSON text. */
  | { kind: "read"; column: number }
  | { kind: "value"; name: string; type: GraphQLOutputType };

export interface CompiledPayload {
  /**
   * The statement that reads the rows of payloads; null when nothing has to be read. Its parameters are the values of the slots,
   * an array of payloads or null, and a key. Without an array it reads the only payload from the result of `mutation.run` that
   * the connection stored with this key. Its last column is the number of the payload that a row is for.
   */
  statement: Statement | null;
  parts: readonly (readonly [key: string, part: PayloadPart])[];
}

/** The setting in which a connection stores the key of its last mutation, followed by the result. */
export const answerSetting = "service.answer";
/** The number of characters of a key. */
export const answerKeyLength = 36;

/** Compiles the statement that reads a payload. @throws {UnsupportedOperation} when some part of the payload has no known SQL form */
export function compilePayload(
  operation: ReadableOperation,
  variables: CoercedVariables,
  fieldArguments: ReadonlyMap<FieldNode, FieldArguments>,
  type: GraphQLObjectType,
  selected: SelectedField,
): CompiledPayload {
  const compilation = new Compilation(operation, variables, fieldArguments, buildObject);
  const [ids, columns]: [string[], string[]] = [[], []];
  const parts = compilation.selectFields(type, selected).map(([key, part]): [string, PayloadPart] => {
    if (part.name === "__typename") return [key, { kind: "typename" }];
    const { field, source } = requireField(type, part.name);
    if (source.kind === "value") return [key, { kind: "value", name: source.name, type: field.type }];
    const named = getNamedType(field.type);
    if (source.kind !== "entity" || !isObjectType(named)) throw new UnsupportedOperation(part.name);
    const name = `i${ids.length}`;
    ids.push(`${buildIds(source)} as ${name}`);
    const column = columns.push(buildEntity(compilation, source, named, part, `a.${name}`)) - 1;
    return [key, { kind: "read", column }];
  });
  if (columns.length === 0) return { statement: null, parts };
  const { parameterCount } = compilation;
  const stored = `current_setting(${quoteLiteral(answerSetting)},true)`;
  const answers =
    `jsonb_array_elements(coalesce($${parameterCount + 1}::jsonb,` +
    `case when starts_with(${stored},$${parameterCount + 2}::text) ` +
    `then jsonb_build_array(substr(${stored},${answerKeyLength + 1})::jsonb->'payload') end)) with ordinality`;
  const text =
    `select ${columns.join()},a.nth::text from (select ${ids.join()},p.nth from ${answers} p(v,nth) ` +
    `where jsonb_typeof(p.v)='object' offset 0) a`;
  return { statement: compilation.createStatement(text), parts };
}

type Entity = FieldSource & { kind: "entity" };

/** Returns SQL of the id or the ids in a payload. */
function buildIds({ name, isList }: Entity): string {
  if (!isList) return `(p.v->>${quoteLiteral(name)})::uuid`;
  const list = `p.v->${quoteLiteral(name)}`;
  return (
    `array(select e::uuid from jsonb_array_elements_text(` +
    `case when jsonb_typeof(${list})='array' then ${list} else '[]' end) e)`
  );
}

/** Returns SQL of the JSON text of the row with an id, or of a list of rows in the order of the ids, without invisible ones. */
function buildEntity(
  compilation: Compilation,
  { rows, isList }: Entity,
  type: GraphQLObjectType,
  selected: SelectedField,
  ids: string,
): string {
  if (!isUuidKey(rows.key)) throw new UnsupportedOperation(`ids of ${type.name}`);
  const alias = compilation.createAlias();
  const id = `${alias}.${quoteIdentifier(rows.key[0].name)}`;
  const object = compilation.buildRow(type, selected, alias);
  const from = `from ${buildFrom(rows.resource)} ${alias} where ${id}=`;
  if (!isList) return `coalesce((select ${object} ${from}${ids}),'null')`;
  const found = compilation.createAlias();
  return (
    `(select '['||coalesce(string_agg(${found}.t,',' order by ${found}.n),'')||']' from ` +
    `(select ${object} as t,array_position(${ids},${id}) as n ${from}any(${ids})) ${found})`
  );
}
