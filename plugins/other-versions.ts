import type {} from "postgraphile";

/** Postgres schemas that hold versions of the API. */
const ofVersions = /^api_(unstable|\d)/;

/**
 * Leaves the other versions of the API, of which the database holds one each in a schema, out of what is known of the
 * database. What is wrong with one of them must not keep this one from being built; and it need not be looked through.
 *
 * @param schemaName that of this version
 */
export function makeOtherVersionsPlugin(schemaName: string): GraphileConfig.Plugin {
  return {
    name: "OtherVersionsPlugin",
    description: "Builds a version from its own schema, whatever the others hold",
    version: "1.0.0",
    before: ["PgFakeConstraintsPlugin"],
    gather: {
      hooks: {
        pgIntrospection_introspection(_info, { introspection }) {
          const { namespaces, classes, attributes, constraints, types, procs } = introspection;
          const others = new Set(
            namespaces
              .filter(({ nspname }) => ofVersions.test(nspname) && nspname !== schemaName)
              .map(({ _id }) => _id),
          );
          const theirs = new Set(classes.filter((one) => others.has(one.relnamespace)).map(({ _id }) => _id));
          // The lists themselves are shared by whoever reads them
          keep(classes, ({ _id }) => !theirs.has(_id));
          keep(attributes, ({ attrelid }) => !theirs.has(attrelid));
          keep(constraints, ({ conrelid }) => conrelid === null || !theirs.has(conrelid));
          keep(types, ({ typnamespace }) => !others.has(typnamespace));
          keep(procs, ({ pronamespace }) => !others.has(pronamespace));
        },
      },
    },
  };
}

function keep<T>(list: T[], isWanted: (item: T) => boolean): void {
  let length = 0;
  for (const item of list) if (isWanted(item)) list[length++] = item;
  list.length = length;
}
