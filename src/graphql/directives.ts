import type { GraphQLDirective as Directive } from "postgraphile/graphql";
import { DirectiveLocation, GraphQLDirective, specifiedDirectives } from "postgraphile/graphql";

/** A place that graphql-js lists though only the next edition of the specification has it. */
const newPlace = "DIRECTIVE_DEFINITION";

/**
 * The directives that GraphQL specifies, at the places that every client knows. Introspection with an unknown place
 * breaks clients that read it strictly (graphql-core 3.2).
 */
export const knownDirectives: readonly Directive[] = specifiedDirectives.map((directive) => {
  const { locations, ...config } = directive.toConfig();
  const known = locations.filter((location: string) => location !== newPlace);
  return known.length === locations.length
    ? directive
    : new GraphQLDirective({ ...config, locations: known });
});

/** The same for the directives of a schema. */
export const withKnownPlaces = (directives: readonly Directive[]): Directive[] =>
  directives.map((directive) => knownDirectives.find(({ name }) => name === directive.name) ?? directive);

/** The directive of queries whose answer is kept up to date (src/live). */
export const liveDirective = new GraphQLDirective({
  name: "live",
  description:
    "A query over text/event-stream runs again whenever an event reports a change of something that it shows. " +
    "If the result has changed, it is sent again. Over other media types the directive has no effect.",
  locations: [DirectiveLocation.QUERY],
});
