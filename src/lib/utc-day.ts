const dayMs = 86_400_000;
let [known, text] = [NaN, ""];

/** The day of a time in milliseconds since 1970, like 2026-06-30, in UTC. Each request asks for it, so the last one is kept. */
export function utcDay(time: number): string {
  const day = Math.floor(time / dayMs);
  if (day !== known) [known, text] = [day, new Date(time).toISOString().slice(0, 10)];
  return text;
}
