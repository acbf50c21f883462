import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from "postgraphile/graphql";

/** Scopes that a field requires: one of `anyOf`, and all of `allOf`. */
export interface ScopeRequirement {
  anyOf?: string[];
  allOf?: string[];
}

/** A field of an output or input type. */
export interface WithScopes {
  extensions: { requiresScopes?: ScopeRequirement | undefined };
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    requiresScopes?: ScopeRequirement;
    /** Scopes that give access to rows of other credentials. */
    scopesOfAll?: readonly string[];
  }
  interface GraphQLInputFieldExtensions {
    /** Only on fields of filters that follow a relation. */
    requiresScopes?: ScopeRequirement;
    /**
     * Only on fields of filters: the indexes that find rows by the field, each as a list of its fields. Empty if rows are
     * compared one by one, undefined if that isn't known.
     */
    indexes?: readonly (readonly string[])[];
  }
}

const scopes = () => new GraphQLList(new GraphQLNonNull(GraphQLString));

/** The directive that shows a field's requirement in the printed schema. */
export const requiresScopesDirective = new GraphQLDirective({
  name: "requiresScopes",
  description:
    "Scopes that an access token needs to use the field. If it lacks them, the whole operation is refused.",
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    anyOf: { type: scopes(), description: "At least one of these scopes is needed." },
    allOf: { type: scopes(), description: "All of these scopes are needed." },
  },
});

/** The directive in versions whose filters follow relations: such fields require the scopes of the relation. */
export const requiresScopesOfInputs = new GraphQLDirective({
  ...requiresScopesDirective.toConfig(),
  locations: [DirectiveLocation.FIELD_DEFINITION, DirectiveLocation.INPUT_FIELD_DEFINITION],
});
