import type {} from "postgraphile";

/**
 * What a view offers when its tags say nothing: one root field by id, one root connection, its relations. Lists
 * without pages, look-ups by other unique columns, and writing to views are not offered at all: what changes data is
 * a function.
 */
export const SurfacePlugin: GraphileConfig.Plugin = {
  name: "SurfacePlugin",
  description: "Offers views by id and as connections, and nothing else",
  version: "1.0.0",
  schema: {
    globalBehavior: [
      "node",
      "connection",
      "-list",
      "-query:resource:single",
      "-resource:insert",
      "-resource:update",
      "-resource:delete",
    ],
  },
};
