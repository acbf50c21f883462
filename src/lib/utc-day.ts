const dayMs = 86_400_000;
let [known, text] = [NaN, ""];

/** Returns the UTC day of a time in milliseconds since 1970, like 2026-06-30. Each request needs it, so it is cached. */
export function utcDay(time: number): string {
  const day = Math.floor(time / dayMs);
  if (day !== known) [known, text] = [day, new Date(time).toISOString().slice(0, 10)];
  return text;
}
