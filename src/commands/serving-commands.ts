import { Option } from "@commander-js/extra-typings";
import { examples, wholeNumber } from "./program.ts";
import type { Program } from "./program.ts";

const service = () => import("./start.ts");

export function addServingCommands(erp: Program): void {
  erp.commandsGroup("Serve:");
  erp
    .command("start")
    .description("Runs the service. On its own Postgres or on DATABASE_URL, until it gets a signal.")
    .option("--workers <count>", "processes that answer requests, behind one port", wholeNumber(1, 64), 1)
    .addOption(
      new Option("--empty", "make a shop without data in DATA_DIRECTORY, which must not have any").conflicts(
        "demo",
      ),
    )
    .option("--demo", "make one with demonstration data; development does so in a new folder anyway")
    .addHelpText(...examples("start", "start --workers 4"))
    .action(async (options) => (await service()).start(options));
  erp
    .command("demo")
    .description("Fills the database with a demonstration shop.")
    .option(
      "--scale <number>",
      "1 is 200 products and 500 orders, 100 is a hundred times that",
      wholeNumber(1, 1000),
      1,
    )
    .option("--reset", "delete all data first; without it, a database that has data is refused")
    .addHelpText(...examples("demo --scale 100 --reset"))
    .action(async (options) => (await import("./demo.ts")).fillWithDemo(options));
  erp
    .command("compile", { hidden: true })
    .description("Loads all that start loads, so that Node caches its code: for images.")
    .action(async () => (await service()).compile());
}
