/**
 * The rooms of the house, from the top floor down. A room imports what lies on floors below it, never what lies above
 * or beside it. `plugins` is the folder of the root; all others are folders of `src`.
 */
export const floors = [
  ["commands"],
  ["process"],
  ["http"],
  ["administration", "webhooks", "documents", "jobs"],
  ["versions"],
  ["auth"],
  ["plugins"],
  ["reads"],
  ["graphql", "database"],
  ["errors", "lib"],
];

/** The folder of a room. */
export const folderOf = (room) => (room === "plugins" ? "plugins" : `src/${room}`);
