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

/** A field, or one of an input. */
export interface WithScopes {
  extensions: { requiresScopes?: ScopeRequirement | undefined };
}

declare module "postgraphile/graphql" {
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    requiresScopes?: ScopeRequirement;
    /** Scopes that open the rows of other credentials. */
    scopesOfAll?: readonly string[];
  }
  interface GraphQLInputFieldExtensions {
    /** Only of fields of filters that follow a relation. */
    requiresScopes?: ScopeRequirement;
    /**
     * Only of fields of filters: the indexes that find rows by it, each by the fields that it is of, in order. None: it is
     * compared row by row. Undefined where that isn't known.
     */
    indexes?: readonly (readonly string[])[];
  }
}

const scopes = () => new GraphQLList(new GraphQLNonNull(GraphQLString));

/** The directive that shows a field's requirement in the printed schema. */
export const requiresScopesDirective = new GraphQLDirective({
  name: "requiresScopes",
  description:
    "Access scopes that a token needs to use the field. An operation with a field whose requirement is not met is " +
    "refused as a whole.",
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    anyOf: { type: scopes(), description: "At least one of these scopes is needed." },
    allOf: { type: scopes(), description: "All of these scopes are needed." },
  },
});

/** The same in versions whose filters follow relations: their fields require what the relation requires. */
export const requiresScopesOfInputs = new GraphQLDirective({
  ...requiresScopesDirective.toConfig(),
  locations: [DirectiveLocation.FIELD_DEFINITION, DirectiveLocation.INPUT_FIELD_DEFINITION],
});
