import type { PgCodec } from "postgraphile/@dataplan/pg";
import { isEnumCodec } from "postgraphile/@dataplan/pg";
import { readScannedCode } from "../../src/codes/scanned-code.ts";
import { encodeGlobalId } from "../../src/graphql/global-id.ts";
import { writeKey } from "../../src/graphql/key-forms.ts";
import type { UserErrorRow } from "../../src/graphql/mutation-check.ts";
import { withDigits } from "../../src/mutations/exact-json.ts";
import { getElementCodec } from "../../src/reads/codecs.ts";
import { floorToSecond } from "../../src/reads/moment-operators.ts";
import type { Mutation } from "./mutation-functions.ts";
import type { MutationResult } from "../../src/graphql/mutation-outcome.ts";
import { hasTag, tagText } from "./tags.ts";
import { fieldNameOf, findKeyByType } from "./views.ts";

/** A JSON value as `mutation.run` takes and returns it. */
type Json = unknown;
type Converter = (value: unknown) => Json;

const isJson = ({ name }: PgCodec): boolean => name === "json" || name === "jsonb";

const keepValue: Converter = (value) => value;
const unlessNull = (convert: Converter): Converter =>
  convert === keepValue ? keepValue : (value) => (value == null ? null : convert(value));
const toEach = (convert: Converter): Converter =>
  convert === keepValue ? keepValue : (values) => (values as unknown[]).map(convert);

/** Fields with times that are compared, and not stored in columns of whole seconds. */
const exactMoments = new Set(["counted_at", "from_time", "to_time"]);

/**
 * Makes a function from an argument to the JSON of a composite type: fields named as columns, global ids as uuids.
 * Omitted fields stay omitted.
 */
export function makeInputEncoder(build: GraphileBuild.Build, codec: PgCodec): Converter {
  const element = getElementCodec(codec);
  if (element) return unlessNull(toEach(makeInputEncoder(build, element)));
  if (codec.extensions?.globalIdOf) return unlessNull(codec.toPg as Converter);
  if (!codec.attributes) return keepValue;
  const fields = Object.entries(codec.attributes).map(([attributeName, attribute]) => {
    const fieldName = fieldNameOf(build, codec, attributeName);
    // Columns of whole seconds would round to the nearest one
    const isWhole = attribute.codec.name === "dateTime" && !exactMoments.has(attributeName);
    const encode = hasTag(attribute, "gs1")
      ? unlessNull(readScannedCode as Converter)
      : isWhole
        ? unlessNull(floorToSecond as Converter)
        : makeInputEncoder(build, attribute.codec);
    return [fieldName, attributeName, encode] as const;
  });
  return unlessNull((value) => {
    const given = value as Record<string, unknown>;
    return Object.fromEntries(
      fields.flatMap(([fieldName, attributeName, encode]) =>
        given[fieldName] === undefined ? [] : [[attributeName, encode(given[fieldName])]],
      ),
    );
  });
}

/** Makes a function from the JSON of a composite type to the values of its GraphQL type's fields, by column. */
function makeValueDecoder(build: GraphileBuild.Build, codec: PgCodec): Converter {
  const element = getElementCodec(codec);
  if (element) return unlessNull(toEach(makeValueDecoder(build, element)));
  const { globalIdOf } = codec.extensions ?? {};
  if (globalIdOf) return unlessNull(makeIdEncoder(build, globalIdOf));
  // JSON keeps its numbers as they are
  if (!codec.attributes) return isJson(codec) ? keepValue : withDigits;
  const fields = Object.entries(codec.attributes).map(([name, attribute]) => {
    const entity = tagText(attribute, "entity");
    if (entity) return [name, makeEntityDecoder(build, entity, attribute.codec)] as const;
    const isResult = tagText(attribute, "resultOf") !== undefined; // decoded separately
    return [name, isResult ? keepValue : makeValueDecoder(build, attribute.codec)] as const;
  });
  return unlessNull((value) => {
    const row = value as Record<string, Json>;
    return Object.fromEntries(fields.map(([name, decode]) => [name, decode(row[name])]));
  });
}

/** Makes a function from a key to a global id. The key is the value of its one column, or the text of several columns. */
function makeIdEncoder(build: GraphileBuild.Build, typeName: string): Converter {
  const isText = (findKeyByType(build, typeName)?.length ?? 1) > 1;
  return (value) =>
    encodeGlobalId(typeName, isText ? (value as string) : writeKey([String(withDigits(value))]));
}

function makeEntityDecoder(build: GraphileBuild.Build, typeName: string, codec: PgCodec): Converter {
  const encode = makeIdEncoder(build, typeName);
  return unlessNull(codec.arrayOfCodec ? toEach(encode) : encode);
}

/**
 * Makes a function from a user error or warning of `mutation.user_error` to its form for clients. The path has the names of
 * input fields, and the code is one that this version lists.
 *
 * @param unlisted the code that replaces all codes that the version doesn't list
 */
function makeUserErrorDecoder(
  build: GraphileBuild.Build,
  codec: PgCodec,
  unlisted: string,
): (note: UserErrorRow) => UserErrorRow {
  const codes = codec.attributes!.code!.codec;
  const known = new Set(isEnumCodec(codes) ? codes.values.map(({ value }) => value) : []);
  return ({ code, message, field, details }) => ({
    code: known.has(code) ? code : unlisted,
    message,
    field: field?.map((part) => build.inflection.camelCase(part)) ?? null,
    details,
  });
}

/** The result of a row of an upsert, as `mutation.upsert_results` returns it. */
interface ResultRow {
  id: string | null;
  user_errors: UserErrorRow[];
}

/**
 * Makes a function from the results of an upsert's rows to their form for clients. The column's tag `@resultOf Product`
 * names the type of their ids.
 */
function makeUpsertDecoder(
  build: GraphileBuild.Build,
  payload: PgCodec,
  decodeError: (error: UserErrorRow) => UserErrorRow,
): (row: object) => object {
  const typeName = payload.attributes!.results && tagText(payload.attributes!.results, "resultOf");
  if (typeName === undefined) return keepValue as (row: object) => object;
  const encodeId = unlessNull(makeIdEncoder(build, typeName));
  return (row) => {
    const { results = [] } = row as { results?: ResultRow[] };
    const decoded = results.map(({ id, user_errors: userErrors, ...others }) => {
      return { ...others, id: encodeId(id), userErrors: userErrors.map(decodeError) };
    });
    return { ...row, results: decoded };
  };
}

/**
 * Makes a function from the result of `mutation.run` to the values of the payload's fields. A payload that another
 * version stored may lack columns of this version.
 */
export function makeResultDecoder(
  build: GraphileBuild.Build,
  { payload, userError, warning }: Mutation,
): (result: MutationResult) => Record<string, unknown> {
  const decodePayload = makeValueDecoder(build, payload) as (row: object) => Record<string, unknown>;
  const decodeError = makeUserErrorDecoder(build, userError, "INVALID");
  const decodeResults = makeUpsertDecoder(build, payload, decodeError);
  const decodeWarning = warning && makeUserErrorDecoder(build, warning, "OTHER");
  const empty = Object.fromEntries(
    Object.entries(payload.attributes!).map(([name, { codec }]) => [name, codec.arrayOfCodec ? [] : null]),
  );
  return ({ payload: row, userErrors, warnings }) => ({
    ...(row ? decodeResults(decodePayload({ ...empty, ...row })) : empty),
    user_errors: userErrors.map(decodeError),
    warnings: decodeWarning ? warnings.map(decodeWarning) : [],
  });
}
