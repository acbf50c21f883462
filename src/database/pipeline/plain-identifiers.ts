const identifiers = /(json_array_elements\(\$\d+::json\) with ordinality as ids)\)/g;

/**
 * Makes look-ups of several rows use an index behind row-level security.
 *
 * PostGraphile compares a column with `(ids.value->>0)::uuid`. Neither `->>` nor the cast is leakproof, so Postgres
 * must check the policy of every row before it may compare: it reads the whole table. `offset 0` keeps it from moving
 * the expression into the comparison, which then compares two uuids, and that is leakproof.
 */
export function withPlainIdentifiers(text: string): string {
  return text.replace(identifiers, "$1 offset 0)");
}
