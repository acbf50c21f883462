import type { PgCodec } from "postgraphile/@dataplan/pg";
import { specifiedDirectives } from "postgraphile/graphql";
import { withKnownLocations } from "../src/graphql/directives.ts";
import { scopeRefusal } from "../src/graphql/missing-scopes.ts";
import type { ScopeRequirement } from "../src/graphql/scopes.ts";
import { requiresScopesDirective } from "../src/graphql/scopes.ts";
import type { Tagged } from "./lib/tags.ts";
import { hasTag, tagLines, tagWords } from "./lib/tags.ts";
import { findRelation, findViewByType } from "./lib/views.ts";

/**
 * Reads the tag `@requiresScopes`: scopes of which one is enough, and after the word `allOf:`, scopes that are all
 * needed.
 *
 * @returns undefined without the tag
 */
export function readRequirement(thing: Tagged | null | undefined): ScopeRequirement | undefined {
  if (!hasTag(thing, "requiresScopes")) return undefined;
  const requirement: ScopeRequirement = {};
  let list: keyof ScopeRequirement = "anyOf";
  // An empty word is refused too: a tag without scopes would open its rows to everybody
  for (const word of tagLines(thing, "requiresScopes")
    .join(" ")
    .split(/[\s,]+/)) {
    if (word === "anyOf:" || word === "allOf:") list = word === "anyOf:" ? "anyOf" : "allOf";
    else if (/^[a-z_]+:[a-z_]+$/.test(word)) (requirement[list] ??= []).push(word);
    else throw new Error(`@requiresScopes: "${word}" is not a scope such as products:read`);
  }
  return requirement;
}

/** Returns the view of a field's rows, for a root field, a foreign key or a ref. */
function findTargetView(
  build: GraphileBuild.Build,
  scope: GraphileBuild.ScopeObjectFieldsField,
): PgCodec | undefined {
  const { pgFieldResource, pgRefDetails, nodeAccessorTypeName } = scope;
  const relation = findRelation(scope);
  if (relation) return relation.remoteResource.codec;
  if (pgFieldResource) return pgFieldResource.codec as PgCodec;
  if (nodeAccessorTypeName) return findViewByType(build, nodeAccessorTypeName)?.codec;
  let target: PgCodec | undefined = pgRefDetails?.codec;
  for (const { relationName } of pgRefDetails?.ref.paths[0] ?? []) {
    target = pgRefDetails!.registry.pgRelations[target!.name]?.[relationName]?.remoteResource.codec;
  }
  return target;
}

/**
 * Adds required scopes to fields. They are declared once, on the view. Fields that lead to its rows inherit them, unless
 * the foreign key or column has the tag itself. Row-level security of the tables checks scopes again.
 *
 * An operation is refused before it runs if the caller lacks a scope for one of its fields. A check in the plan would come
 * too late: a mutation would have been committed before a field of its payload is refused.
 */
export const ScopesPlugin: GraphileConfig.Plugin = {
  name: "ScopesPlugin",
  description:
    "Declares on each field which scopes it requires, from the tag @requiresScopes, and checks them",
  schema: {
    hooks: {
      GraphQLSchema(config) {
        return {
          ...config,
          directives: [
            ...withKnownLocations(config.directives ?? specifiedDirectives),
            requiresScopesDirective,
          ],
        };
      },
      GraphQLObjectType_fields_field(field, build, { Self, scope }) {
        const target = findTargetView(build, scope);
        const own = readRequirement(
          scope.mutationFunction ??
            scope.readFunction?.resource ??
            scope.pgFieldAttribute ??
            findRelation(scope),
        );
        const requirement = own ?? readRequirement(target);
        const ofRoot = scope.isRootQuery ? scope.readFunction?.resource : undefined;
        const declared = scope.mutationFunction ?? target ?? ofRoot;
        if (!requirement && declared) {
          throw new Error(`${Self.name}.${scope.fieldName}: ${declared.name} has no tag @requiresScopes`);
        }
        if (requirement) field.extensions = { ...field.extensions, requiresScopes: requirement };
        if (hasTag(target, "scopesOfAll")) {
          const scopesOfAll = tagWords(target, "scopesOfAll");
          field.extensions = { ...field.extensions, scopesOfAll };
        }
        return field;
      },
    },
  },
  grafast: {
    middleware: {
      execute(next, { args }) {
        const refusal = scopeRefusal(args);
        return refusal ? { errors: [refusal] } : next();
      },
      subscribe(next, { args }) {
        const refusal = scopeRefusal(args);
        return refusal ? { errors: [refusal] } : next();
      },
    },
  },
};
