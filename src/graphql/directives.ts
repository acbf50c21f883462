import type { GraphQLDirective as Directive } from "postgraphile/graphql";
import { GraphQLDirective, specifiedDirectives } from "postgraphile/graphql";

/**
 * The directives that GraphQL specifies, at the places that every client knows. graphql-js also lists a place that only
 * the next edition of the specification has, and introspection with it breaks clients that read it strictly
 * (graphql-core 3.2).
 */
export const knownDirectives: readonly Directive[] = specifiedDirectives.map((directive) => {
  const { locations, ...config } = directive.toConfig();
  const known = locations.filter((location) => (location as string) !== "DIRECTIVE_DEFINITION");
  return known.length === locations.length
    ? directive
    : new GraphQLDirective({ ...config, locations: known });
});
