/** A version of the API. */
export interface Version {
  /** Its name in the path: `/api/graphql/{slug}`. */
  slug: string;
  /** The Postgres schema that holds its views. */
  schemaName: string;
}

/** The versions that are served. The first is the one to start with; `unstable`, the head, is always there. */
export const versions: readonly Version[] = [
  { slug: "2026-06-unstable", schemaName: "api_2026_06_unstable" },
  { slug: "unstable", schemaName: "api_unstable" },
];

/** Where a version is served. */
export function pathOf({ slug }: Version): string {
  return `/api/graphql/${slug}`;
}
