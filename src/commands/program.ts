import { Command, CommanderError, InvalidArgumentError } from "@commander-js/extra-typings";
import type { OptionValues } from "@commander-js/extra-typings";
import { atTheTerminal, print, UsageError } from "./terminal.ts";
import type { Result } from "./terminal.ts";

/** A program or one of its commands. Invalid arguments show the help first, and the message last. */
export class Program extends Command {
  constructor(name?: string) {
    super(name);
    this.exitOverride();
    this.configureHelp({
      commandDescription: (command) => joinBrokenLines(command.description()),
      subcommandTerm: (command) => command.name(),
      subcommandDescription: (command) => firstSentence(joinBrokenLines(command.description())),
    });
  }

  override createCommand(name?: string): Program {
    return new Program(name);
  }

  override error(message: string, options?: Parameters<Command["error"]>[1]): never {
    this.outputHelp({ error: true });
    return super.error(`\n${message}`, options);
  }
}

/** Joins lines that are broken only in the source code. */
const joinBrokenLines = (text: string): string => text.replaceAll(/(?<=\S)\n(?=\S)/g, " ");
const firstSentence = (text: string): string => text.split(/[.:;](?=\s|$)/)[0]!;

/**
 * Runs a program with arguments. Exit code 0: done, 1: refused or failed, 2: invalid arguments. Its actions throw
 * {@link UsageError} for arguments that the declaration doesn't exclude.
 */
export function run(program: Program, args: readonly string[] = process.argv.slice(2)): Promise<void> {
  let command: Pick<Command, "error"> = program;
  program.hook("preAction", (_, current) => {
    command = current;
  });
  return atTheTerminal(async () => {
    try {
      await program.parseAsync(args, { from: "user" }).catch((error: unknown) => {
        if (error instanceof UsageError) command.error(`error: ${error.message}`);
        throw error;
      });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      // Commander has printed everything already: the requested help, or the error
      process.exitCode = error.exitCode === 0 ? 0 : 2;
    }
  });
}

/** Has a command print its result, as JSON for programs. */
export function addPrintingAction<Words extends unknown[], Options extends OptionValues>(
  command: Command<Words, Options>,
  work: (...words: [...Words, Options]) => Promise<Result>,
): void {
  command.option("--json", "print one line of JSON instead of text").action(async () => {
    const options = command.opts() as Options & { json?: true };
    print(await work(...command.processedArgs, options), options.json);
  });
}

/** A sentence of the help of commands on the connection of the database's owner. */
export const onDatabase = `Works on the embedded Postgres, whether the service runs or not, or on DATABASE_URL, which then must be an
administrator's.`;

/** Shows examples after the help. */
export const examples = (...lines: string[]) =>
  ["after", `\nExamples:\n${lines.map((line) => `  npx erp ${line}`).join("\n")}`] as const;

/** Reads whole numbers of a range. */
export const wholeNumber =
  (from: number, to = Number.MAX_SAFE_INTEGER) =>
  (text: string): number => {
    const number = Number(text);
    if (text.trim() !== "" && Number.isInteger(number) && number >= from && number <= to) return number;
    const range = to === Number.MAX_SAFE_INTEGER ? `, at least ${from}` : ` from ${from} to ${to}`;
    throw new InvalidArgumentError(`It is a whole number${range}.`);
  };

/** Collects an option that may be given several times. */
export const collect = (text: string, before: string[] = []): string[] => [...before, text];
