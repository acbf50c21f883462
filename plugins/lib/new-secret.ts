import type { NewSecret } from "../../src/graphql/new-secret.ts";
import type { Mutation } from "./mutation-functions.ts";
import type { MutationResult } from "../../src/graphql/mutation-outcome.ts";
import { hasTag } from "./tags.ts";

/** The column of a mutation's payload that shows a new secret, by its tag @secret; undefined when there is none. */
export function secretColumnOf({ payload }: Mutation): string | undefined {
  return Object.entries(payload.attributes!).find(([, attribute]) => hasTag(attribute, "secret"))?.[0];
}

/** Settings from which the function of a mutation reads the new secret. */
export function settingsFor({ id, stored }: NewSecret): Record<string, string> {
  return { "service.new_secret_id": id, "service.new_secret": stored };
}

/** Puts the secret in the place of its id, which a mutation returns when it has stored it. */
export function showSecret(result: MutationResult, column: string, { id, plain }: NewSecret): MutationResult {
  if (result.payload?.[column] !== id) return result;
  return { ...result, payload: { ...result.payload, [column]: plain } };
}
