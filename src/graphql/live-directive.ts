import { DirectiveLocation, GraphQLDirective } from "postgraphile/graphql";

/** The directive of queries whose answer is kept up to date (src/live). */
export const liveDirective = new GraphQLDirective({
  name: "live",
  description:
    "Answered as text/event-stream, the query is run again whenever an event tells of something that it shows, and " +
    "its answer is sent again if it has changed. Other answers are as without the directive.",
  locations: [DirectiveLocation.QUERY],
});
