import type { IConfiguration } from "dependency-cruiser";
import { floors, folderOf, rooms } from "./rooms.ts";
import type { Room } from "./rooms.ts";

/** Returns a pattern for paths in one of these rooms. */
const within = (some: readonly Room[]): string => `^(${some.map(folderOf).join("|")})/`;

const named = (...names: string[]): readonly Room[] => rooms.filter(({ name }) => names.includes(name));

/** A room imports only rooms on lower floors. */
const onlyDown = floors.flatMap((floor, index) =>
  floor.map((room) => ({
    name: `only-down-from-${room.name}`,
    comment: `${folderOf(room)} imports rooms of floors below its own only: tools/architecture/rooms.ts has the floors.`,
    severity: "error" as const,
    from: { path: within([room]) },
    to: {
      path: within(
        floors
          .slice(0, index + 1)
          .flat()
          .filter((other) => other !== room),
      ),
    },
  })),
);

/** Rules for imports. Each finds a mistake in test/tools/architecture.test.ts. */
const configuration: IConfiguration = {
  forbidden: [
    {
      name: "no-circles",
      comment:
        "Files import each other in a circle, if only for types. What they share belongs into a file of its own.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    // The top floor has none above it
    ...onlyDown.filter(({ to }) => to.path !== within([])),
    {
      name: "plugins-by-their-index",
      comment: "Plugins are put in order by plugins/index.ts. What others need of them lies in a lower room.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^plugins/", pathNot: "^plugins/index[.]ts$" },
    },
    {
      name: "no-database-in-plans",
      comment: "Plugins and reads make plans and statements. What runs these is given to them.",
      severity: "error",
      from: { path: within(named("plugins", "reads", "graphql")) },
      to: { path: within(named("postgres", "plans", "cluster", "migrations", "replicas")) },
    },
    {
      name: "no-tests-in-the-house",
      comment: "What is served must not depend on tests, benchmarks and examples.",
      severity: "error",
      from: { path: within(rooms) },
      to: { path: "^(test|bench|examples|tools)/" },
    },
    {
      name: "no-tools-in-the-house",
      comment: "A package that is only there for development. Move it to `dependencies` of package.json.",
      severity: "error",
      from: { path: within(rooms) },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
        pathNot: "^node_modules/@types/",
      },
    },
    {
      name: "no-dead-ends",
      comment: "The import leads nowhere, or to a package that package.json doesn't have.",
      severity: "error",
      from: {},
      to: { dependencyTypes: ["unknown", "undetermined", "npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "no-strangers",
      comment: "A file of src that lies in no room: tools/architecture/rooms.ts has them all.",
      severity: "error",
      from: {},
      to: { path: "^src/", pathNot: within(rooms) },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^bench/peers/" },
    // Type imports too
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
    },
  },
};

export default configuration;
