import type { PgCodec, PgResource } from "postgraphile/@dataplan/pg";
import { sql } from "postgraphile/pg-sql2";
import { getOrMake } from "../../src/lib/remembered.ts";
import type { CallArgument, FunctionCall } from "../../src/reads/function-call.ts";
import { listAttributes, getElementCodec } from "../../src/reads/codecs.ts";
import { primaryKeyOf } from "./view-keys.ts";
import { toExactCodec } from "./text-codecs.ts";
import { tagText } from "./tags.ts";
import { listViews } from "./views.ts";

/** A stable function that is a field: it takes arguments, or returns rows. */
export interface ReadFunction {
  resource: PgResource;
  /** Name of the field. */
  fieldName: string;
  call: FunctionCall;
  /** Arguments that have no default. */
  required: ReadonlySet<string>;
  resultKind: "value" | "row" | "list";
  /** The codec of the value, row or rows that it returns. */
  codec: PgCodec;
  /** The view whose row it takes; undefined if it takes none. */
  owner: PgResource | undefined;
  /** The view whose row or rows it returns; undefined if it returns a value or a composite type. */
  rows: PgResource | undefined;
  /** A column that is never null, if there is one: a missing row of a function is one whose columns are all null. */
  notNullColumn: string | undefined;
}

type Parameter = NonNullable<PgResource["parameters"]>[number];

/** Returns the name of a function without the name of the view whose row it takes. */
export function nameWithoutView(name: string, view: PgCodec): string {
  const prefix = `${view.extensions?.pg?.name}_`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

const isScalar = (codec: PgCodec): boolean =>
  !codec.attributes && !getElementCodec(codec)?.attributes && codec.extensions?.pgType !== "other";

function findNotNullColumn(codec: PgCodec, rows: PgResource | undefined): string | undefined {
  const [key] = (rows && primaryKeyOf(rows)) ?? [];
  return key?.name ?? listAttributes(codec).find(([, { notNull }]) => notNull)?.[0];
}

const functionsByResources = new WeakMap<GraphileBuild.Build["pgResources"], ReadFunction[]>();

/** Returns the stable functions of a version that are fields. `db/lint/read-function.sql` reports all others. */
export const listReadFunctions = (build: GraphileBuild.Build): ReadFunction[] =>
  getOrMake(functionsByResources, build.pgResources, (resources) => {
    const keyed = listViews(build).filter(primaryKeyOf);
    const views = new Map(keyed.map((resource) => [resource.codec, resource]));
    const functions = Object.values(resources) as PgResource[];
    return functions.flatMap((resource) => toReadFunction(build, resource, views) ?? []);
  });

function toReadFunction(
  build: GraphileBuild.Build,
  resource: PgResource,
  views: ReadonlyMap<PgCodec, PgResource>,
): ReadFunction | undefined {
  const { parameters, isMutation, isUnique, codec } = resource;
  if (!parameters || isMutation || Reflect.get(resource, "isList")) return undefined;
  const owner = parameters[0] && views.get(parameters[0].codec);
  const given: readonly Parameter[] = owner ? parameters.slice(1) : parameters;
  const rows = views.get(codec);
  const makes = !isUnique ? "list" : codec.attributes ? "row" : "value";
  if (makes === "list" && !rows) return undefined;
  if (makes === "value" && !(isScalar(codec) && owner && given.length > 0)) return undefined;
  if (given.some(({ name, codec: type }) => !name || !isScalar(type))) return undefined;
  const { schemaName, name } = resource.extensions!.pg!;
  const called = given.map((parameter): CallArgument => ({
    fieldName: build.inflection.camelCase(parameter.name!),
    name: parameter.name!,
    codec: toExactCodec(parameter.codec),
  }));
  const own = owner ? nameWithoutView(name, owner.codec) : name;
  return {
    resource,
    fieldName: tagText(resource, "fieldName") ?? build.inflection.camelCase(own),
    call: {
      name: sql.identifier(schemaName, name),
      takesRow: owner !== undefined,
      arguments: called,
    },
    required: new Set(given.filter(({ optional }) => !optional).map((parameter) => parameter.name!)),
    resultKind: makes,
    codec: makes === "value" ? toExactCodec(codec) : codec,
    owner,
    rows,
    notNullColumn: findNotNullColumn(codec, rows),
  };
}
