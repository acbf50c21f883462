import type { PgCodec } from "postgraphile/@dataplan/pg";
import type { GraphQLOutputType } from "postgraphile/graphql";
import { getNamedType, GraphQLID, GraphQLList, GraphQLNonNull } from "postgraphile/graphql";
import { getElementCodec } from "../../src/reads/codecs.ts";
import { isOutput } from "./mutation-functions.ts";

/** Returns the GraphQL type of a codec's values; lists hold no null. */
export function findGraphQLType(build: GraphileBuild.Build, codec: PgCodec, direction: "input" | "output") {
  const element = getElementCodec(codec);
  const one = element ?? codec;
  const { globalIdOf, scalar } = one.extensions ?? {};
  const name = scalar ?? (isOutput(one) ? build.inflection.tableType(one) : undefined);
  const named = globalIdOf
    ? GraphQLID
    : name
      ? build.getTypeByName(name)
      : build.getGraphQLTypeByPgCodec(one, direction);
  if (!named) throw new Error(`The type ${codec.name} can't be used in functions of the API`);
  return element ? new GraphQLList(new GraphQLNonNull(getNamedType(named as GraphQLOutputType))) : named;
}
