import type { GraphQLDirective as Directive } from "postgraphile/graphql";
import { DirectiveLocation, GraphQLDirective, specifiedDirectives } from "postgraphile/graphql";

/** A location of directives that graphql-js lists although only the next edition of the specification has it. */
const newLocation = "DIRECTIVE_DEFINITION";

/**
 * The directives that GraphQL specifies, at locations that every client knows. Introspection with an unknown location
 * breaks clients that read it strictly (graphql-core 3.2).
 */
export const knownDirectives: readonly Directive[] = specifiedDirectives.map((directive) => {
  const { locations, ...config } = directive.toConfig();
  const known = locations.filter((location: string) => location !== newLocation);
  return known.length === locations.length
    ? directive
    : new GraphQLDirective({ ...config, locations: known });
});

/** Replaces the specified directives among a schema's directives by {@link knownDirectives}. */
export const withKnownLocations = (directives: readonly Directive[]): Directive[] =>
  directives.map((directive) => knownDirectives.find(({ name }) => name === directive.name) ?? directive);

/** The directive of queries whose result is kept up to date (src/live). */
export const liveDirective = new GraphQLDirective({
  name: "live",
  description:
    "Keeps the result up to date, in a response of type text/event-stream. The query runs again whenever an event reports " +
    "a change of something that it shows, and a changed result is sent. Responses of other types ignore the directive.",
  locations: [DirectiveLocation.QUERY],
});
