import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { KeyOf } from "../graphql/global-id.ts";
import { requireGlobalId } from "../graphql/global-id.ts";
import { checkLength } from "./filter-conditions.ts";

/** The ids of one type among those that are looked up. */
export interface IdsOfType {
  typeName: string;
  /** Index of the places that they have among all ids; those of the values of their keys follow. */
  index: number;
}

/**
 * Types and keys of global ids.
 *
 * @throws BAD_USER_INPUT for more than 250, and for a text that is none
 */
export function readIds(
  ids: readonly string[],
  keyOf: KeyOf,
): { id: string; typeName: string; values: string[] }[] {
  checkLength(ids, "ids");
  return ids.map((id) => ({ id, ...requireGlobalId(id, keyOf) }));
}

/** Ids by their types, and how many there are. */
export interface GivenIds {
  ids: readonly IdsOfType[];
  count: number;
}

const listCodec = listOfCodec(TYPES.text);

/** What a statement needs to know of ids. Of each type there are their places, and a list for each column of the key. */
export function describeIds(ids: ReturnType<typeof readIds>): {
  shape: string;
  values: unknown[];
  nodes: GivenIds;
} {
  const values: unknown[] = [ids.length];
  const types = [...new Set(ids.map(({ typeName }) => typeName))].sort();
  const described = types.map((typeName): IdsOfType => {
    const own = ids.flatMap((id, place) => (id.typeName === typeName ? [{ ...id, place: place + 1 }] : []));
    const index = values.push(listCodec.toPg(own.map(({ place }) => String(place)))) - 1;
    for (const column of own[0]!.values.keys())
      values.push(listCodec.toPg(own.map((id) => id.values[column]!)));
    return { typeName, index };
  });
  return {
    shape: ids.length === 0 ? "" : `n${types.join()}`,
    values,
    nodes: { ids: described, count: ids.length },
  };
}
