import assert from "node:assert/strict";
import type { GraphQLObjectType, GraphQLSchema } from "postgraphile/graphql";
import { getNamedType, isLeafType, isRequiredArgument } from "postgraphile/graphql";
import type { Samples } from "./random-reads.ts";
import type { TwoExecutors } from "./two-executors.ts";

/** Reads some rows of every list, for values that filters find. */
export async function takeSamples({
  schema,
  byGrafast,
}: Pick<TwoExecutors, "schema" | "byGrafast">): Promise<Samples> {
  const samples = new Map<string, unknown[]>();
  for (const field of Object.values(schema.getQueryType()!.getFields())) {
    const connection = getNamedType(field.type);
    if (!connection.name.endsWith("Connection") || field.args.some(isRequiredArgument)) continue;
    const type = nodeType(schema, connection.name);
    const leaves = Object.values(type.getFields()).filter(
      (leaf) => isLeafType(getNamedType(leaf.type)) && leaf.args.length === 0,
    );
    const columns = leaves.map(({ name }) => name).join(" ");
    const { data, errors } = await byGrafast({
      source: `{ list: ${field.name}(first: 40) { edges { node { ${columns} } } } }`,
    });
    assert.deepEqual(errors, []);
    for (const { name } of leaves) {
      const values = data.list.edges
        .map(({ node }: any) => node[name])
        .filter((value: unknown) => value !== null);
      samples.set(`${type.name}.${name}`, values);
    }
  }
  return samples;
}

const nodeType = (schema: GraphQLSchema, connection: string) =>
  schema.getType(connection.replace("Connection", "")) as GraphQLObjectType;
