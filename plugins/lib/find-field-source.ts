import type {} from "postgraphile";
import type { PgCodec, PgCodecAttribute, PgCodecWithAttributes, PgResource } from "postgraphile/@dataplan/pg";
import { attributesOf } from "../../src/reads/codecs.ts";
import { aggregateOf, groupsOf } from "./aggregates.ts";
import { followedOf } from "./followed.ts";
import { keyOfResource } from "./keys.ts";
import type { ReadFunction } from "./read-functions.ts";
import { searchOf } from "./search.ts";
import type { FieldScope } from "../relations.ts";
import { relationOf } from "../relations.ts";
import type { FieldSource, Rows } from "../../src/reads/field-source.ts";
import type { Hop, Match } from "../../src/reads/hops.ts";

/** A view whose rows can simply be selected: no function, no hook that adds conditions. */
function isPlain(resource: PgResource | null | undefined): resource is PgResource {
  if (!resource || resource.parameters || resource.isVirtual || resource.codec.polymorphism) return false;
  return typeof resource.from !== "function" && Reflect.get(resource, "selectAuth") == null;
}

/** The view of a type, if its rows have a key. */
export function findRows(build: GraphileBuild.Build, codec: PgCodec | undefined): Rows | undefined {
  if (!codec?.attributes || codec.polymorphism) return undefined;
  const resource = build.pgTableResource(codec as PgCodecWithAttributes);
  const key = isPlain(resource) ? keyOfResource(resource) : undefined;
  return key && isPlain(resource) ? { resource, key } : undefined;
}

/** The source of a field, according to the scope that the library and our plugins give it. */
export function findSource(
  build: GraphileBuild.Build,
  typeName: string,
  scope: FieldScope,
): FieldSource | undefined {
  const { fieldName } = scope;
  if (scope.pgFieldAttribute) return findColumn(scope);
  if (scope.readFunction) return findFunction(build, `${typeName}.${fieldName}`, scope.readFunction);
  if (scope.mutationFunction) return { kind: "mutation" };
  if (scope.payloadColumn) return findPayloadColumn(build, scope);
  if (scope.isRootNodeField) return { kind: "node" };
  if (scope.isRootNodesField) return { kind: "nodes" };
  if (scope.nodeAccessorTypeName) return { kind: "row" };
  if (scope.isPgFieldConnection) return findList(build, `${typeName}.${fieldName}`, scope);
  if (scope.isPgSingleRelationField) {
    const hop = scope.pgRefDetails ? undefined : hopOf(scope);
    return hop && { kind: "related", hop };
  }
  if (scope.isConnectionType && (fieldName === "edges" || fieldName === "pageInfo"))
    return { kind: fieldName };
  if (isAggregatePart(scope)) return findAggregatePart(build, scope);
  if (scope.countField) return { kind: scope.countField };
  if (scope.isCursorField) return { kind: "cursor" };
  if (scope.isConnectionEdgeType && fieldName === "node") return { kind: "entry" };
  if (scope.isPageInfo && isPageInfoField(fieldName)) return { kind: fieldName };
  return undefined;
}

function isPageInfoField(name: string) {
  return (
    name === "hasNextPage" || name === "hasPreviousPage" || name === "startCursor" || name === "endCursor"
  );
}

const isAggregatePart = ({ isConnectionType, fieldName, ...scope }: FieldScope): boolean =>
  scope.aggregatePart !== undefined ||
  scope.isPgAggregateField === true ||
  scope.isPgConnectionAggregateField === true ||
  (isConnectionType === true && /^(grouped)?aggregates$/i.test(fieldName));

function findAggregatePart(build: GraphileBuild.Build, scope: FieldScope): FieldSource | undefined {
  const { fieldName, aggregatePart, pgAggregateSpec, pgTypeResource, pgCodec } = scope;
  if (aggregatePart) return { kind: aggregatePart };
  if (scope.isPgAggregateField) return { kind: "aggregate" };
  if (scope.isPgConnectionAggregateField) {
    const resource = pgTypeResource as PgResource;
    const aggregate = aggregateOf(build, resource, pgAggregateSpec!, fieldName);
    return aggregate && { kind: "aggregated", aggregate };
  }
  const resource = findRows(build, pgCodec as PgCodec)?.resource;
  if (!resource) return undefined;
  return fieldName === "aggregates"
    ? { kind: "aggregates" }
    : { kind: "groupedAggregates", groups: groupsOf(build, resource) };
}

function findColumn({ pgCodec, pgFieldAttribute: attribute }: FieldScope): FieldSource | undefined {
  if (!attribute || attribute.via || attribute.identicalVia) return undefined;
  const columns = pgCodec ? attributesOf(pgCodec as PgCodec) : [];
  const name = columns.find(([, candidate]) => candidate === attribute)?.[0];
  return name === undefined ? undefined : { kind: "column", name, attribute: attribute as PgCodecAttribute };
}

function findPayloadColumn(build: GraphileBuild.Build, scope: FieldScope): FieldSource | undefined {
  const { payloadColumn, pgFieldResource } = scope;
  const { name, isList } = payloadColumn!;
  if (!pgFieldResource) return { kind: "value", name };
  const rows = findRows(build, pgFieldResource.codec as PgCodec);
  return rows?.resource === pgFieldResource ? { kind: "entity", name, rows, isList } : undefined;
}

export function hopOf(scope: FieldScope): Hop | undefined {
  const relation = relationOf(scope);
  const to = relation?.remoteResource as PgResource | undefined;
  if (!relation || !isPlain(to)) return undefined;
  return { to, on: matches(relation.localAttributes, relation.remoteAttributes) };
}

function findList(build: GraphileBuild.Build, list: string, scope: FieldScope): FieldSource | undefined {
  const rows = findRows(build, scope.pgFieldResource?.codec as PgCodec | undefined);
  const hops = hopsTo(scope);
  const { resource } = rows ?? {};
  if (!rows || !hops || scope.pgFieldResource !== resource) return undefined;
  const target = hops.at(-1)?.to;
  if (target !== undefined && target !== resource) return undefined;
  const filterFields = build.filterFields.get(rows.resource.codec);
  const followed = followedOf(rows.resource);
  const orders = build.listOrders?.get(rows.resource.codec);
  const search = scope.isRootQuery ? searchOf(rows.resource) : undefined;
  return { kind: "list", ...rows, list, hops, call: undefined, filterFields, followed, orders, search };
}

function findFunction(
  build: GraphileBuild.Build,
  list: string,
  { rows: returned, call, codec, makes, present }: ReadFunction,
): FieldSource | undefined {
  if (makes === "row") return { kind: "returned", call, present };
  if (!returned) return { kind: "function", call, codec };
  const rows = findRows(build, returned.codec);
  const filterFields = build.filterFields.get(returned.codec);
  const orders = build.listOrders?.get(returned.codec);
  const none = { followed: undefined, search: undefined };
  return rows && { kind: "list", ...rows, list, hops: [], call, filterFields, orders, ...none };
}

/** The hops to the rows of a list: none for all rows, one for a foreign key, more through link views. */
export function hopsTo(scope: FieldScope): Hop[] | undefined {
  if (scope.isRootQuery) return [];
  if (!scope.isPgManyRelationConnectionField) return undefined;
  const { pgRefDetails } = scope;
  if (!pgRefDetails) {
    const hop = hopOf(scope);
    return hop && [hop];
  }
  const [path, ...others] = pgRefDetails.ref.paths;
  if (!path || others.length > 0) return undefined;
  const hops: Hop[] = [];
  let { codec } = pgRefDetails as { codec: PgCodec };
  for (const { relationName } of path) {
    const relation = pgRefDetails.registry.pgRelations[codec.name]?.[relationName];
    const to = relation?.remoteResource as PgResource | undefined;
    if (!relation || !isPlain(to)) return undefined;
    hops.push({ to, on: matches(relation.localAttributes, relation.remoteAttributes) });
    ({ codec } = to);
  }
  return hops;
}

const matches = (local: readonly string[], remote: readonly string[]): Match[] =>
  local.map((name, index) => ({ local: name, remote: remote[index]! }));
