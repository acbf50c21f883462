import { Presets, SingleBar } from "cli-progress";

/**
 * Shows at the terminal how far something is, until it is stopped; elsewhere, a line every few seconds.
 *
 * @param unit what is counted
 */
export function progressBar(name: string, unit: string, total = 0): SingleBar {
  const bar = new SingleBar(
    {
      format: `${name} {bar} {percentage}% | {value} of {total} ${unit} | {duration_formatted}`,
      hideCursor: true,
      noTTYOutput: true,
      notTTYSchedule: 5_000,
      stream: process.stderr,
    },
    Presets.shades_classic,
  );
  bar.start(total, 0);
  return bar;
}
