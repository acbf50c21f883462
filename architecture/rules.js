import { floors, folderOf } from "./rooms.js";

/** A path in one of these rooms. */
const inRooms = (rooms) => `^(${rooms.map(folderOf).join("|")})/`;

const arrowsDown = floors
  .flatMap((floor, height) =>
    floor.map((room) => ({
      name: `only-down-from-${room}`,
      comment: "A room imports rooms of floors below its own only (architecture/rooms.js).",
      severity: "error",
      from: { path: inRooms([room]) },
      to: {
        path: inRooms(
          floors
            .slice(0, height + 1)
            .flat()
            .filter((other) => other !== room),
        ),
      },
    })),
  )
  .filter(({ to }) => to.path !== "^()/");

export default {
  forbidden: [
    {
      name: "no-circles",
      comment:
        "Files import each other in a circle, types included. Move what they share to a file of its own.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    ...arrowsDown,
    {
      name: "plugins-by-their-index",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^plugins/", pathNot: "^plugins/index\\.ts$" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".json"] },
  },
};
