import type { PgResource } from "postgraphile/@dataplan/pg";
import type { Followed } from "../../src/reads/followed.ts";
import { tagText } from "./tags.ts";

/** The content of a view's tag @followed; undefined when its lists are not followed. */
export function followedOf(resource: PgResource): Followed | undefined {
  const transaction = tagText(resource.codec, "followed");
  if (transaction === undefined || typeof resource.from === "function") return undefined;
  if (!resource.codec.attributes?.[transaction])
    throw new Error(`${resource.name} has no column ${transaction}, which its tag @followed names`);
  return { transaction, from: resource.from };
}
