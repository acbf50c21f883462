import list from "./versions.json" with { type: "json" };

/**
 * `stable` is served for a year and only grows; `preview` is frozen and served for a while; `floating` is `unstable`,
 * which changes.
 */
export type VersionKind = "stable" | "preview" | "floating";

/** A version of the API. */
export interface Version {
  /** Its name in the path: `/api/graphql/{slug}`. */
  slug: string;
  kind: VersionKind;
  /** The Postgres schema that holds its views. */
  schemaName: string;
  /** The first day on which it is served, as YYYY-MM-DD; null for unstable, which always is. */
  releasedOn: string | null;
}

/** Makes a version, with the kind and schema that follow from its slug. */
export function versionOf({
  slug,
  releasedOn = null,
}: {
  slug: string;
  releasedOn?: string | null;
}): Version {
  const kind = slug === "unstable" ? "floating" : slug.endsWith("-unstable") ? "preview" : "stable";
  return { slug, kind, schemaName: `api_${slug.replaceAll("-", "_")}`, releasedOn };
}

/**
 * All existing versions, from `versions.json`, to which `npx erp release` adds. The first is recommended to new
 * clients; `unstable` always exists.
 */
export const versions: readonly Version[] = list.map(versionOf);

/** Returns the path of a version. */
export function pathOf({ slug }: Pick<Version, "slug">): string {
  return `/api/graphql/${slug}`;
}
