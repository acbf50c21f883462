import { Presets, SingleBar } from "cli-progress";

/** Shows at the terminal how far something is; elsewhere, a line every few seconds. */
export class ProgressBar {
  readonly #bar: SingleBar;

  /** @param unit what is counted */
  constructor(name: string, unit: string, total: number) {
    this.#bar = new SingleBar(
      {
        format: `${name} {bar} {percentage}% | {value} of {total} ${unit} | {duration_formatted}`,
        hideCursor: true,
        noTTYOutput: true,
        notTTYSchedule: 5_000,
        stream: process.stderr,
      },
      Presets.shades_classic,
    );
    this.#bar.start(total, 0);
  }

  /** @param total when it has become known */
  show(value: number, total?: number): void {
    if (total !== undefined) this.#bar.setTotal(total);
    this.#bar.update(value);
  }

  end(): void {
    this.#bar.stop();
  }
}
