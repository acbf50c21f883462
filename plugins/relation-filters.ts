import type { PgCodec } from "postgraphile/@dataplan/pg";
import type { GraphQLInputFieldConfig, GraphQLInputFieldConfigMap } from "postgraphile/graphql";
import { getNamedType, isObjectType } from "postgraphile/graphql";
import { requiresScopesDirective, requiresScopesOfInputs } from "../src/graphql/scopes.ts";
import type { Hop } from "../src/reads/hops.ts";
import type { Quantifier } from "../src/reads/related-rows.ts";
import { quantifiers } from "../src/reads/related-rows.ts";
import { primaryKeyOf } from "./lib/view-keys.ts";
import { hasTag } from "./lib/tags.ts";
import type { FieldScope } from "./lib/views.ts";
import { fieldNameOf, findHop, findHops, takesNoFilter } from "./lib/views.ts";

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** The relation that filters of the type follow, by a field with the same name. */
    filtered?: { hops: readonly Hop[]; isMany: boolean; codec: PgCodec };
  }
}

const descriptions: Record<Quantifier, string> = {
  some: "At least one entry matches this filter. With an empty filter: there is an entry.",
  none: "No entry matches this filter. With an empty filter: there is no entry.",
  every: "All entries match this filter, or there are none. A comparison with null doesn't match.",
};

/** Whether an index finds the rows that a hop leads to. */
function isIndexed({ to, on }: Hop): boolean {
  const [{ remote: first } = { remote: "" }, ...others] = on;
  const key = primaryKeyOf(to)?.map(({ name }) => name) ?? [];
  const isKey = on.every(({ remote }) => key.slice(0, on.length).includes(remote));
  return isKey || (others.length === 0 && hasTag(to.codec.attributes?.[first], "indexed"));
}

/** Returns the relation that a field follows, if filters may follow it too: an index has to answer each hop. */
function findFilteredRelation(
  build: GraphileBuild.Build,
  scope: FieldScope,
): { hops: readonly Hop[]; isMany: boolean; codec: PgCodec } | undefined {
  const isMany = scope.isPgManyRelationConnectionField === true;
  if ((!isMany && !scope.isPgSingleRelationField) || takesNoFilter(scope)) return undefined;
  const one = isMany || scope.pgRefDetails ? undefined : findHop(scope);
  const hops = isMany ? findHops(scope) : one && [one];
  const codec = hops?.at(-1)?.to.codec;
  if (!hops || !codec || !build.filterFields.has(codec) || !hops.every(isIndexed)) return undefined;
  return { hops, isMany, codec };
}

/** Returns a filter's fields that follow the relations of its type. */
function relationFields(build: GraphileBuild.Build, codec: PgCodec): GraphQLInputFieldConfigMap {
  const type = build.getTypeByName(build.inflection.tableType(codec));
  if (!isObjectType(type)) return {};
  const offered = build.filterFields.get(codec)!;
  const fields: GraphQLInputFieldConfigMap = {};
  for (const { name, type: target, extensions } of Object.values(type.getFields())) {
    const { filtered, requiresScopes } = extensions;
    if (!filtered || offered.has(name)) continue;
    const { hops, isMany } = filtered;
    offered.set(name, { hops, isMany, fields: build.filterFields.get(filtered.codec)! });
    const entry = build.inflection.tableType(filtered.codec);
    const { to, on } = hops.at(-1)!;
    const found = on.map(({ remote }) => fieldNameOf(build, to.codec, remote));
    const indexes = [found.map((each) => `${build.inflection.tableType(to.codec)}.${each}`)];
    const field: GraphQLInputFieldConfig = {
      type: build.getInputTypeByName(`${entry}${isMany ? "ListFilter" : "FilterInput"}`),
      description: isMany
        ? `Conditions on the entries of \`${name}\`.`
        : `Condition on \`${name}\`: the ${getNamedType(target).name} must exist and match this filter.`,
      extensions: requiresScopes ? { requiresScopes, indexes } : { indexes },
    };
    fields[name] = field;
  }
  return fields;
}

/** Makes the filter input of lists of a type, for example `OrderListFilter`. */
function registerListFilter(build: GraphileBuild.Build, codec: PgCodec): void {
  const entry = build.inflection.tableType(codec);
  build.registerInputObjectType(
    `${entry}ListFilter`,
    {},
    () => ({
      description: `Conditions on a list of entries of type ${entry}, which must all hold.`,
      fields: () =>
        Object.fromEntries(
          quantifiers.map((name) => [
            name,
            { type: build.getInputTypeByName(`${entry}FilterInput`), description: descriptions[name] },
          ]),
        ),
    }),
    "RelationFiltersPlugin",
  );
}

/**
 * Adds filters through relations: each relation field that an index answers is also a field of its type's filter. It needs
 * the scopes of the relation field, which src/graphql/filter-relations.ts finds in operations.
 */
export const RelationFiltersPlugin: GraphileConfig.Plugin = {
  name: "RelationFiltersPlugin",
  description: "Adds relations to filters, where an index answers the join",
  after: ["FiltersPlugin", "ScopesPlugin"],
  schema: {
    hooks: {
      init: {
        after: ["FiltersPlugin"],
        callback(_, build) {
          for (const codec of build.filterFields.keys()) registerListFilter(build, codec);
          return _;
        },
      },
      GraphQLSchema(config) {
        const directives = config.directives?.map((directive) =>
          directive === requiresScopesDirective ? requiresScopesOfInputs : directive,
        );
        return directives ? { ...config, directives } : config;
      },
      GraphQLObjectType_fields_field(field, build, { scope }) {
        const filtered = findFilteredRelation(build, scope);
        if (filtered) field.extensions = { ...field.extensions, filtered };
        return field;
      },
      GraphQLInputObjectType_fields(fields, build, { Self, scope: { filteredRows } }) {
        if (!filteredRows) return fields;
        const relations = relationFields(build, filteredRows);
        return build.extend(fields, relations, `Adding the relations that ${Self.name} follows`);
      },
    },
  },
};
