import type { GraphQLField, GraphQLSchema } from "postgraphile/graphql";
import { getNamedType, isInterfaceType, isLeafType, isObjectType } from "postgraphile/graphql";

/** Limits of a random operation. */
export interface RandomOptions {
  schema: GraphQLSchema;
  seed: number;
  /** Levels of fields below the root. */
  depth: number;
  /** The text of an argument, or undefined to leave it out. */
  argument(
    owner: string,
    field: GraphQLField<unknown, unknown>,
    name: string,
    random: Random,
  ): string | undefined;
}

/** A whole number from 0 to below the limit. */
export type Random = (limit: number) => number;

/** Pseudorandom numbers, the same for the same seed (mulberry32). */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** A valid query with random fields, aliases, fragments and arguments. */
export function randomOperation({ schema, seed, depth, argument }: RandomOptions): string {
  const random = makeRandom(seed);
  let aliases = 0;

  const call = (owner: string, field: GraphQLField<unknown, unknown>): string => {
    const given = field.args.flatMap(({ name }) => {
      const value = argument(owner, field, name, random);
      return value === undefined ? [] : [`${name}: ${value}`];
    });
    return given.length ? `${field.name}(${given.join(", ")})` : field.name;
  };

  const selection = (typeName: string, left: number): string => {
    const type = schema.getType(typeName);
    if (isInterfaceType(type)) {
      const types = schema.getPossibleTypes(type);
      const some = types[random(types.length)]!.name;
      return `{ __typename id ... on ${some} ${selection(some, left)} }`;
    }
    if (!isObjectType(type)) return "";
    const parts: string[] = random(4) === 0 ? ["__typename"] : [];
    for (const field of Object.values(type.getFields())) {
      const target = getNamedType(field.type);
      const isLeaf = isLeafType(target);
      if (random(isLeaf ? 2 : 3) !== 0 || (!isLeaf && left === 0)) continue;
      const times = random(5) === 0 ? 2 : 1;
      for (let time = 0; time < times; time++) {
        const alias = times > 1 || random(4) === 0 ? `a${aliases++}: ` : "";
        const part = `${alias}${call(typeName, field)} ${selection(target.name, left - 1)}`;
        parts.push(random(6) === 0 ? `... on ${typeName} { ${part} }` : part);
      }
    }
    return `{ ${parts.length ? parts.join(" ") : "__typename"} }`;
  };
  return selection(schema.getQueryType()!.name, depth);
}
