import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { UsageError } from "./terminal.ts";

/** Lines of a shell's `case`: what may follow the words of each command. */
function cases(command: CommandUnknownOpts, path = ""): string[] {
  const words = [
    ...command.commands.map((one) => one.name()),
    ...command.options.flatMap(({ long }) => long ?? []),
    ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    "--help",
  ];
  return [
    `    "${path}") words="${words.join(" ")}" ;;`,
    ...command.commands.flatMap((one) => cases(one, `${path} ${one.name()}`)),
  ];
}

/**
 * A script that completes commands, options and fixed arguments, and files where none fits. zsh runs that of bash.
 *
 * @throws {UsageError} for other shells
 */
export function completion(program: CommandUnknownOpts, shell: string): string {
  if (shell !== "bash" && shell !== "zsh")
    throw new UsageError(`There are completions for bash and zsh, not for ${shell}.`);
  const name = program.name();
  const lines = cases(program);
  const known = lines.map((line) => /"(.*?)"/.exec(line)![1]).filter(Boolean);
  return `${shell === "zsh" ? "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" : ""}_${name}() {
  local path="" words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in ${known.map((one) => `"${one}"`).join("|")}) path="$path $word" ;; esac
  done
  case "$path" in
${lines.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}`;
}
