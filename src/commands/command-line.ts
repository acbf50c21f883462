import { parseArgs } from "node:util";
import type { ParseArgsOptionsConfig } from "node:util";
import { atTheTerminal, UsageError } from "./terminal.ts";

const helpOption = { help: { type: "boolean", short: "h" } } as const;

export interface CommandLine<O extends ParseArgsOptionsConfig> {
  /** Printed by `--help`, and after what is wrong with the arguments. */
  usage: string;
  /** The options of the command, beside `--help`. */
  options?: O;
  /** Number of arguments at most that are no options. */
  arguments?: number;
}

/** The options that were given, and the other arguments in their order. */
type Parsed<O extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true }>
>;

/**
 * Runs a command with the arguments that it was given. Exit code 0: done, 1: refused or failed, 2: invalid arguments.
 *
 * @param main throws {@link UsageError} for invalid arguments that the declaration doesn't exclude
 */
export function atTheCommandLine<const O extends ParseArgsOptionsConfig>(
  { usage, options, arguments: max = 0 }: CommandLine<O>,
  main: (values: Parsed<O>["values"], positionals: string[]) => Promise<void>,
): Promise<void> {
  return atTheTerminal(async () => {
    const { values, positionals } = parse({ ...options, ...helpOption });
    if (values.help || positionals[0] === "help") return void process.stdout.write(usage);
    refuseTakenByNpm(Object.keys(options ?? {}), Object.keys(values));
    if (positionals.length > max) throw new UsageError(`“${positionals[max]}” is one argument too many.`);
    await main(values as Parsed<O>["values"], positionals);
  }, usage);
}

function parse<const O extends ParseArgsOptionsConfig>(options: O) {
  try {
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/**
 * Refuses a command whose options npm has taken as its own, as it does without `--` before them.
 *
 * @throws {UsageError} naming one of them
 */
function refuseTakenByNpm(names: readonly string[], given: readonly string[]): void {
  const { npm_lifecycle_event: script, ...environment } = process.env;
  if (script === undefined) return;
  // npm completes names: it takes --read for --read-only
  const flags = Object.keys(environment).filter(
    (name) => name.startsWith("npm_config_") && environment[name] === "true",
  );
  const taken = names.find((name) => {
    const start = `npm_config_${name.replaceAll("-", "_")}`;
    return !given.includes(name) && flags.some((flag) => flag.startsWith(start));
  });
  if (taken !== undefined)
    throw new UsageError(
      `npm took --${taken} as an option of its own. Write -- before the arguments: npm run ${script} -- …`,
    );
}
