import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { UsageError } from "./terminal.ts";

/** Lines of a shell's `case`: what may follow the words of each command. */
function cases(command: CommandUnknownOpts, path = ""): string[] {
  const choices = [
    ...command.commands.map((one) => one.name()),
    ...command.options.flatMap(({ long }) => long ?? []),
    ...command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    "--help",
  ];
  return [
    `    "${path}") choices="${choices.join(" ")}" ;;`,
    ...command.commands.flatMap((one) => cases(one, `${path} ${one.name()}`)),
  ];
}

/**
 * Prints a script that completes commands, options and fixed arguments, or else files. zsh runs the script for bash, but
 * reserves the variables path and words.
 *
 * @throws {UsageError} for other shells
 */
export function completion(program: CommandUnknownOpts, shell: string): string {
  if (shell !== "bash" && shell !== "zsh")
    throw new UsageError(`There are completions for bash and zsh, not for ${shell}.`);
  const name = program.name();
  const lines = cases(program);
  const commands = lines.map((line) => /".*?"/.exec(line)![0]).filter((path) => path !== '""');
  return `${shell === "zsh" ? "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n" : ""}_${name}() {
  local command="" choices="" word
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$command $word" in ${commands.join("|")}) command="$command $word" ;; esac
  done
  case "$command" in
${lines.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${name} ${name}`;
}
