import { collect, examples, wholeNumber } from "./program.ts";
import type { Program } from "./program.ts";

const merchants = () => import("./merchants.ts");

type Group = Pick<Program, "command">;

export function addOperationCommands(erp: Program): void {
  erp.commandsGroup("Operate:");
  erp
    .command("doctor")
    .description(
      `Examines everything, and says what to do. The settings, the database and what is around them; it changes nothing. An
error needs somebody today, a warning this week, a note nobody. Exit code 1: there are errors.`,
    )
    .option("--json", "print JSON: {healthy, examined: [{name, findings: [{severity, what, toDo}]}]}")
    .addHelpText(...examples("doctor"))
    .action(async (options) => (await import("./doctor.ts")).printHealth(options));
  addBackups(erp);
  addMerchants(
    erp.command("merchants").description(
      `Manages the merchants of a service that has many. They are in the folder that MERCHANTS names. Commands that make, migrate
or remove databases need DATABASE_URL: an administrator's, of the cluster that they are on.`,
    ),
  );
  erp.commandsGroup("Shell:").helpCommand("help [command]", "Explains a command.");
  erp
    .command("completion <shell>")
    .description("Prints a script for bash or zsh that completes commands.")
    .addHelpText(...examples("completion bash > ~/.erp-completion"))
    .action(async (shell) => console.log((await import("./completion.ts")).completion(erp, shell)));
}

function addBackups(erp: Group): void {
  erp
    .command("backup")
    .description(
      `Copies the service's own Postgres. The service may run. It prints the folder of the backup. A Postgres of
DATABASE_URL has its own tools: see docs/guides/backups.md.`,
    )
    .option("--to <folder>", "the folder of backups, each a folder there; BACKUP_DIRECTORY if not given")
    .option("--keep <count>", "afterwards remove all but the newest", wholeNumber(1))
    .addHelpText(...examples("backup --to /var/backups/erp --keep 7"))
    .action(async (options) => (await import("./backup.ts")).backUpTo(options));
  erp
    .command("restore")
    .description(
      `Restores the service's own Postgres from a backup. It proves the books. Nothing is left of a restore that fails. PLACE is a
folder of backups, of which the newest is taken, or one backup; or a file of \`pg_dump --format=custom\`, to move
to another major version of Postgres. Exit code 1: refused or failed, or the books are wrong.`,
    )
    .requiredOption("--from <place>", "the backup")
    .option(
      "--to <folder>",
      "the folder of the new data, which must not have any; DATA_DIRECTORY if not given",
    )
    .option("--check", "only read the backup, and compare its checksums")
    .addHelpText(...examples("restore --from /var/backups/erp --to /tmp/tried"))
    .action(async (options) => (await import("./restore.ts")).restore(options));
}

function addMerchants(group: Group): void {
  group
    .command("add <name>")
    .description("Creates a database with its roles, an administrator and a credential for a new merchant.")
    .option("--host <host>", "a host name by which it is served; several times", collect)
    .option("--path", "serve it at /m/NAME, too")
    .addHelpText(...examples("merchants add acme --host api.acme.example"))
    .action(async (name, options) => (await merchants()).addMerchant(name, options));
  group
    .command("list")
    .description("Shows all merchants: state, hosts, where the database is; and files that are wrong.")
    .addHelpText(...examples("merchants list"))
    .action(async () => (await merchants()).listMerchants());
  group
    .command("migrate [names...]")
    .description(
      "Runs the committed migrations in all databases of the cluster, or in some; may be repeated.",
    )
    .option("--at-once <count>", "databases at a time", wholeNumber(1), 4)
    .addHelpText(...examples("merchants migrate --at-once 8"))
    .action(async (names, options) => (await merchants()).migrateMerchants(names, options));
  group
    .command("suspend <name>")
    .description("Refuses all requests of a merchant.")
    .addHelpText(...examples("merchants suspend acme"))
    .action(async (name) => (await merchants()).setMerchantState(name, "suspended"));
  group
    .command("resume <name>")
    .description("Serves a merchant again.")
    .addHelpText(...examples("merchants resume acme"))
    .action(async (name) => (await merchants()).setMerchantState(name, "active"));
  group
    .command("move <name>")
    .description(
      "Copies its database to DATABASE_URL's cluster from FROM_DATABASE_URL's, and serves it there.",
    )
    .option("--copied", "serve it from DATABASE_URL's database, to which its data have been copied otherwise")
    .addHelpText(...examples("merchants move acme"))
    .action(async (name, options) => (await merchants()).moveMerchant(name, options));
  group
    .command("remove <name>")
    .description("Serves a merchant no more.")
    .option("--drop", "erase its database and roles, too")
    .addHelpText(...examples("merchants remove acme --drop"))
    .action(async (name, options) => (await merchants()).removeMerchant(name, options));
}
