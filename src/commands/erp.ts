// The program `erp`, which bin/erp.js starts. Its commands load what they do when they are called.
import "../process/graphile-env.ts";
import { addAccessCommands } from "./access-commands.ts";
import { addDataCommands } from "./data-commands.ts";
import { addDevelopmentCommands } from "./development-commands.ts";
import { addOperationCommands } from "./operation-commands.ts";
import { Program, run } from "./program.ts";
import { addServingCommands } from "./serving-commands.ts";
import { addCredentialCommands } from "./token-commands.ts";

/** The program with all its commands. */
export function erp(): Program {
  const program = new Program("erp").description(
    "A GraphQL API over an ERP and warehouse database. `erp COMMAND --help` explains a command.",
  );
  addServingCommands(program);
  addDataCommands(program);
  addCredentialCommands(program);
  addAccessCommands(program);
  addDevelopmentCommands(program);
  addOperationCommands(program);
  return program.addHelpText(
    "after",
    "\nSettings are environment variables (docs/reference/settings.md). Exit code: 0 done, 1 refused or failed, 2 wrong arguments.",
  );
}

if (import.meta.main) await run(erp());
