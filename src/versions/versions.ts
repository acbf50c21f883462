import list from "./versions.json" with { type: "json" };

/** `stable` is served for a year and only grows; `preview` is frozen, for a while; `floating` is `unstable`, the version that changes. */
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

/** What a slug and a date of release tell. */
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
 * All versions that there are, from `versions.json`, to which `npm run release` adds. The first is the one to start
 * with; `unstable` is always there.
 */
export const versions: readonly Version[] = list.map(versionOf);

/** Where a version is served. */
export function pathOf({ slug }: Version): string {
  return `/api/graphql/${slug}`;
}
