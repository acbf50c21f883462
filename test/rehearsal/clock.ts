// Loaded before a command (node --import): its clock goes wrong by so many milliseconds.
const wrongByMs = Number(process.env.CLOCK_WRONG_BY_MS ?? 0);
const Real = Date;

globalThis.Date = class extends Real {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(Real.now() + wrongByMs);
    else super(...(given as ConstructorParameters<DateConstructor>));
  }

  static override now(): number {
    return Real.now() + wrongByMs;
  }
} as DateConstructor;
