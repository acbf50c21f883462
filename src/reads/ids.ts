import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { KeyOf } from "../graphql/global-id.ts";
import { requireGlobalId } from "../graphql/global-id.ts";
import { checkLength } from "./filter-conditions.ts";

/** The ids of one type among those that are looked up. */
export interface IdsOfType {
  typeName: string;
  /** Index of their positions among all ids; the values of their keys follow. */
  index: number;
}

/**
 * Reads types and keys from global ids.
 *
 * @throws BAD_USER_INPUT for more than 250 ids, or an invalid one
 */
export function readIds(
  ids: readonly string[],
  keyOf: KeyOf,
): { id: string; typeName: string; values: string[] }[] {
  checkLength(ids, "ids");
  return ids.map((id) => ({ id, ...requireGlobalId(id, keyOf) }));
}

/** Ids by type, and how many there are. */
export interface IdsByType {
  ids: readonly IdsOfType[];
  count: number;
}

const listCodec = listOfCodec(TYPES.text);

/** Describes ids for a statement. For each type there are their positions, and a list for each column of the key. */
export function describeIds(ids: ReturnType<typeof readIds>): {
  shape: string;
  values: unknown[];
  nodes: IdsByType;
} {
  const values: unknown[] = [ids.length];
  const types = [...new Set(ids.map(({ typeName }) => typeName))].sort();
  const described = types.map((typeName): IdsOfType => {
    const idsOfType = ids.flatMap((id, place) =>
      id.typeName === typeName ? [{ ...id, place: place + 1 }] : [],
    );
    const index = values.push(listCodec.toPg(idsOfType.map(({ place }) => String(place)))) - 1;
    for (const column of idsOfType[0]!.values.keys())
      values.push(listCodec.toPg(idsOfType.map((id) => id.values[column]!)));
    return { typeName, index };
  });
  return {
    shape: ids.length === 0 ? "" : `n${types.join()}`,
    values,
    nodes: { ids: described, count: ids.length },
  };
}
