import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { versions } from "../versions/versions.ts";
import { collect, examples, onDatabase, addPrintingAction } from "./program.ts";
import type { Program } from "./program.ts";

const credentials = () => import("./token.ts");
const operations = () => import("./operations.ts");

type Group = Pick<Program, "command">;

const ofCredential = [
  "--credential <id>",
  "of one credential, by its id or client_id, in place of all",
] as const;
const ofVersion = () =>
  new Option("--version <name>", "the version of the API").choices(versions.map(({ slug }) => slug));

/** Adds the commands about clients of the API. */
export function addCredentialCommands(erp: Program): void {
  erp.commandsGroup("Access:");
  const credential = erp
    .command("credential")
    .alias("token")
    .description(
      `Manages API credentials: a client ID and a client secret, which clients exchange for access tokens. ID is the id or the client ID that
list shows. ${onDatabase}`,
    );
  addCredentials(credential);
  addCredentialStates(credential);
  addOperations(erp);
}

function addCredentials(credential: Group): void {
  addPrintingAction(
    credential
      .command("create")
      .description("Creates a credential. Its secret is shown once; the database has only its hash.")
      .requiredOption("--name <name>", "what it is for")
      .option("--read <resources>", "resources that it may read, such as products,stocks, or all", collect)
      .option("--write <resources>", "resources that it may write, and so read", collect)
      .option("--no-access", "make one that may do nothing yet")
      .addOption(new Option("--operations <which>", "which it may send").choices(["stored", "all"] as const))
      .addHelpText(...examples('credential create --name "My integration" --read products,stocks')),
    async (options) => (await credentials()).createCredential(options),
  );
  addPrintingAction(
    credential
      .command("list")
      .description("Shows all credentials.")
      .addHelpText(...examples("credential list")),
    async () => (await credentials()).listCredentials(),
  );
  addPrintingAction(
    credential
      .command("rotate <id>")
      .description(
        `Gives a credential a new key and secret, which are shown once. The old ones and their tokens stop after the overlap, and
without one at once.`,
      )
      .option("--overlap <time>", "hours or days up to 30d: 24h, 7d", hours, 0)
      .addHelpText(...examples("credential rotate ak_… --overlap 24h")),
    async (id, { overlap }) => (await credentials()).rotateCredential(id, overlap),
  );
}

/** Reads hours of an overlap such as 24h or 7d. */
function hours(text: string): number {
  const [, amount, unit] = /^(\d{1,3})(h|d)$/.exec(text) ?? [];
  const count = Number(amount) * (unit === "d" ? 24 : 1);
  if (count <= 30 * 24) return count;
  throw new InvalidArgumentError("It is a number of hours or days up to 30d: 24h, 7d.");
}

function addCredentialStates(credential: Group): void {
  const which = new Option("--operations <which>", "what it may send").choices(["stored", "all"] as const);
  addPrintingAction(
    credential
      .command("change <id>")
      .description(
        "Lets a credential send only operations that `npx erp operations` has stored for it, or all.",
      )
      .addOption(which.makeOptionMandatory())
      .addHelpText(...examples("credential change ak_… --operations stored")),
    async (id, options) => (await credentials()).changeCredential(id, options.operations),
  );
  for (const [action, description] of [
    ["deactivate", "Stops a credential and its tokens at once; it stays in the list."],
    ["activate", "Lets a deactivated credential work again, with the same key and secret."],
    ["delete", "Removes a credential; its tokens stop at once."],
  ] as const)
    addPrintingAction(
      credential
        .command(action)
        .argument("<id>")
        .description(description)
        .addHelpText(...examples(`credential ${action} ak_…`)),
      async (id) => (await credentials()).setState(id, action),
    );
}

function addOperations(erp: Program): void {
  const command = erp.command("operations").description(
    `Stores operations (trusted documents). Clients then send the SHA-256 of a document in place of its text. \`npx erp credential
change ID --operations stored\` lets a credential send stored operations only. At most 5000 are stored, of 64 KiB each and
16 MiB together. A change takes effect at once on every process. \`npx erp db check\` names stored operations that a change
of the database would break. ${onDatabase}`,
  );
  addPrintingAction(
    command
      .command("publish [files...]")
      .description("Stores documents, each as it is, or of a manifest. They must be valid in the version.")
      .option(
        "--manifest <file>",
        "of Apollo's persisted queries, or with SHA-256 of Relay or GraphQL Code Generator",
      )
      .addOption(ofVersion())
      .option(...ofCredential)
      .addHelpText(
        ...examples("operations publish --manifest persisted-query-manifest.json --credential ak_…"),
      ),
    async (files, options) => (await operations()).publishOperations(files, options),
  );
  addPrintingAction(
    command
      .command("list")
      .description("Shows what is stored.")
      .addOption(ofVersion())
      .option(...ofCredential)
      .addHelpText(...examples("operations list")),
    async (options) => (await operations()).listOperations(options),
  );
  addPrintingAction(
    command
      .command("remove [hashes...]")
      .description("Removes what is stored.")
      .option("--all", "all of it")
      .addOption(ofVersion())
      .option(...ofCredential)
      .addHelpText(...examples("operations remove --all --version unstable")),
    async (hashes, options) => (await operations()).removeOperations(hashes, options),
  );
}
