import type { PgCodec, PgCodecRelation, PgCodecWithAttributes, PgResource } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { getOrMake } from "../../src/lib/remembered.ts";
import type { Rows } from "../../src/reads/field-source.ts";
import type { FollowedList } from "../../src/reads/followed.ts";
import type { Hop, Match } from "../../src/reads/hops.ts";
import type { Key } from "../../src/reads/keys.ts";
import { primaryKeyOf } from "./view-keys.ts";
import { hasTag, tagLines, tagText } from "./tags.ts";

export type FieldScope = GraphileBuild.ScopeObjectFieldsField;

/** Returns the name of the field that shows a column. */
export const fieldNameOf = (
  { inflection }: Pick<GraphileBuild.Build, "inflection">,
  codec: PgCodec,
  column: string,
): string => inflection.attribute({ codec: codec as PgCodecWithAttributes, attributeName: column });

/** Returns the views of a version. */
export const listViews = ({ pgResources }: Pick<GraphileBuild.Build, "pgResources">): PgResource[] =>
  (Object.values(pgResources) as PgResource[]).filter(
    ({ parameters, codec }) => !parameters && codec.attributes,
  );

const byType = new WeakMap<GraphileBuild.Build["pgResources"], ReadonlyMap<string, PgResource>>();

/** Returns the view whose rows have a GraphQL type. */
export const findViewByType = (build: GraphileBuild.Build, typeName: string): PgResource | undefined =>
  getOrMake(byType, build.pgResources, () => {
    const views = listViews(build).map((view) => [build.inflection.tableType(view.codec), view] as const);
    return new Map(views);
  }).get(typeName);

/** Returns the key of the rows of a GraphQL type. */
export function findKeyByType(build: GraphileBuild.Build, typeName: string): Key | undefined {
  const view = findViewByType(build, typeName);
  return view && primaryKeyOf(view);
}

/** Whether the rows of a view can simply be selected: it isn't a function, and no hook adds conditions. */
function isSelectable(resource: PgResource | null | undefined): resource is PgResource {
  if (!resource || resource.parameters || resource.isVirtual || resource.codec.polymorphism) return false;
  return typeof resource.from !== "function" && Reflect.get(resource, "selectAuth") == null;
}

/** Returns the view of a type, if its rows have a key. */
export function findKeyedView(build: GraphileBuild.Build, codec: PgCodec | undefined): Rows | undefined {
  if (!codec?.attributes || codec.polymorphism) return undefined;
  const resource = build.pgTableResource(codec as PgCodecWithAttributes);
  const key = isSelectable(resource) ? primaryKeyOf(resource) : undefined;
  return key && isSelectable(resource) ? { resource, key } : undefined;
}

/** Returns the foreign key that a relation field follows, seen from its type; undefined for other fields. */
export function findRelation({ pgRelationDetails }: FieldScope): PgCodecRelation | undefined {
  if (!pgRelationDetails) return undefined;
  const { registry, relationName } = pgRelationDetails;
  const codec = pgRelationDetails.codec as PgCodec;
  return registry.pgRelations[codec.name]?.[relationName];
}

/**
 * Whether the list of a relation takes no filter: the foreign key or the function has the tag @noFilter, or the ref has
 * the word noFilter (`@ref fulfillments to:Fulfillment plural noFilter`).
 */
export function takesNoFilter(scope: FieldScope): boolean {
  if (hasTag(scope.readFunction?.resource ?? findRelation(scope), "noFilter")) return true;
  const { codec, ref } = scope.pgRefDetails ?? {};
  const name = Object.entries(codec?.refs ?? {}).find(([, candidate]) => candidate === ref)?.[0];
  const words = tagLines(codec, "ref").map((line) => line.split(/\s+/));
  return words.some(([refName, ...rest]) => refName === name && rest.includes("noFilter"));
}

/** Returns the hop along the foreign key that a field follows. */
export function findHop(scope: FieldScope): Hop | undefined {
  const relation = findRelation(scope);
  const to = relation?.remoteResource as PgResource | undefined;
  if (!relation || !isSelectable(to)) return undefined;
  return { to, on: matchColumns(relation.localAttributes, relation.remoteAttributes) };
}

/** Returns the hops to the rows of a list: none for all rows, one for a foreign key, more through link views. */
export function findHops(scope: FieldScope): Hop[] | undefined {
  if (scope.isRootQuery) return [];
  if (!scope.isPgManyRelationConnectionField) return undefined;
  const { pgRefDetails } = scope;
  if (!pgRefDetails) {
    const hop = findHop(scope);
    return hop && [hop];
  }
  const [path, ...others] = pgRefDetails.ref.paths;
  if (!path || others.length > 0) return undefined;
  const hops: Hop[] = [];
  let { codec } = pgRefDetails as { codec: PgCodec };
  for (const { relationName } of path) {
    const relation = pgRefDetails.registry.pgRelations[codec.name]?.[relationName];
    const to = relation?.remoteResource as PgResource | undefined;
    if (!relation || !isSelectable(to)) return undefined;
    hops.push({ to, on: matchColumns(relation.localAttributes, relation.remoteAttributes) });
    ({ codec } = to);
  }
  return hops;
}

const matchColumns = (local: readonly string[], remote: readonly string[]): Match[] =>
  local.map((name, index) => ({ local: name, remote: remote[index]! }));

/** Reads a view's tag @followed; undefined if its lists are not followed. */
export function readFollowedTag({ codec, from, name }: PgResource): FollowedList | undefined {
  const transaction = tagText(codec, "followed");
  if (transaction === undefined || typeof from === "function") return undefined;
  if (!codec.attributes?.[transaction])
    throw new Error(`${name} has no column ${transaction}, which its tag @followed names`);
  return { transaction, from };
}

/** Returns the function, made by api_meta.derive_searches(), that searches a view; undefined if the view has no search. */
export function findSearchFunction({ codec }: PgResource): SQL | undefined {
  if (!hasTag(codec, "search")) return undefined;
  const { schemaName, name } = codec.extensions!.pg!;
  return sql.identifier("search", `${schemaName.replace(/^api_/, "")}_${name}`);
}
