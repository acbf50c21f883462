import { Argument } from "@commander-js/extra-typings";
import { examples, onDatabase, addPrintingAction } from "./program.ts";
import type { Program } from "./program.ts";

const administrators = () => import("./admin.ts");
const keys = () => import("./keys.ts");
const plan = () => import("./plan.ts");
const carriers = () => import("./carriers.ts");

const passwordStdin = [
  "--password-stdin",
  "take the password from standard input, instead of making one",
] as const;

/** Adds the commands about administrators, the plan and keys. */
export function addAccessCommands(erp: Program): void {
  addAdministrators(erp);
  addPlan(erp);
  addKeys(erp);
  addCarriers(erp);
}

function addAdministrators(erp: Program): void {
  const admin = erp.command("admin").description(
    `Manages administrators. They may use the administration in the browser, at /admin. A password that is made is shown
once; the database has only its hash. ${onDatabase}`,
  );
  addPrintingAction(
    admin
      .command("create <name>")
      .description("Creates an administrator. NAME is a user name or an e-mail address.")
      .option(...passwordStdin)
      .addHelpText(...examples("admin create anna@example.com")),
    async (name, options) => (await administrators()).createAdmin(name, options),
  );
  addPrintingAction(
    admin
      .command("list")
      .description("Shows all administrators.")
      .addHelpText(...examples("admin list")),
    async () => (await administrators()).listAdmins(),
  );
  addPrintingAction(
    admin
      .command("reset-password <name>")
      .description("Gives an administrator a new password. Their sessions end, and they are active again.")
      .option(...passwordStdin)
      .addHelpText(...examples("admin reset-password anna@example.com")),
    async (name, options) => (await administrators()).resetAdminPassword(name, options),
  );
  addPrintingAction(
    admin
      .command("deactivate <name>")
      .description("Ends all sessions of an administrator and refuses further log-ins.")
      .addHelpText(...examples("admin deactivate anna@example.com")),
    async (name) => (await administrators()).deactivateAdmin(name),
  );
}

function addPlan(erp: Program): void {
  const command = erp
    .command("plan")
    .description("Shows or sets the merchant's plan. A change takes effect at once on every process.");
  command
    .command("show")
    .description("Shows it, with its limits.")
    .addHelpText(...examples("plan show"))
    .action(async () => (await plan()).showPlan());
  command
    .command("set")
    .description(
      `Sets it.

  none        the API is switched off: every request is answered with 402
  read_only   queries work, mutations are refused
  full        everything`,
    )
    .addArgument(new Argument("<plan>").choices(["none", "read_only", "full"] as const))
    .option("--limits <json>", "limits that differ from the settings while it is current; {} removes them")
    .addHelpText(...examples(`plan set full --limits '{"cost": 4000}'`))
    .action(async (name, options) => (await plan()).setPlan(name, options));
}

function addKeys(erp: Program): void {
  const command = erp.command("keys").description(
    `Manages keys that sign tokens, and the encryption of secrets. Needs the SECRETS_KEY of the
service. ${onDatabase}`,
  );
  addPrintingAction(
    command
      .command("list")
      .description("Shows the keys that sign access tokens; never the keys themselves.")
      .addHelpText(...examples("keys list")),
    async () => (await keys()).listKeys(),
  );
  addPrintingAction(
    command
      .command("rotate")
      .description(
        `Creates a new signing key, for every process at once. The previous one is accepted until its tokens have expired, and
then retires by itself.`,
      )
      .option(
        "--valuation",
        "the key that signs heads of stock valuation reports; its public key stays for ever",
      )
      .addHelpText(...examples("keys rotate")),
    async ({ valuation }) => (valuation ? (await keys()).rotateValuationKey() : (await keys()).rotateKeys()),
  );
  addPrintingAction(
    command
      .command("retire <kid>")
      .description("Refuses a key, and the tokens that it has signed. Not the key that signs: rotate first.")
      .option("--now", "at once, though its tokens haven't expired")
      .addHelpText(...examples("keys retire KID --now")),
    async (id, options) => (await keys()).retireKey(id, options),
  );
  addPrintingAction(
    command
      .command("encrypt")
      .description(
        `Encrypts signing keys and secrets of webhooks and carriers with the first key of SECRETS_KEY. Those that are plain, or encrypted with
another key; it can be run again at any time.`,
      )
      .addHelpText(...examples("keys encrypt")),
    async () => (await keys()).encryptSecrets(),
  );
}

function addCarriers(erp: Program): void {
  const command = erp.command("carrier").description(
    `Connects carriers that make shipping labels, by adapters (docs/guides/labels.md). Needs the SECRETS_KEY and
the CARRIER_ALLOW of the service. ${onDatabase}`,
  );
  addPrintingAction(
    command
      .command("set <technical-name>")
      .description(
        "Adds a carrier, or changes what is given. A new one gets a secret for its adapter, which is shown once.",
      )
      .option("--name <name>", "its name for people")
      .option("--url <address>", "the address of its adapter")
      .option("--tracking-url <pattern>", "the page that shows where a parcel is, with {code} for its code")
      .option("--active", "labels are requested from it, as from new ones")
      .option("--no-active", "requests wait until it is active again")
      .option("--new-secret", "replaces its secret at once")
      .addHelpText(...examples("carrier set demo --name Demo --url https://labels.example.com")),
    async (name, options) => (await carriers()).setCarrier(name, options),
  );
  addPrintingAction(
    command
      .command("list")
      .description("Shows all carriers; never their secrets.")
      .addHelpText(...examples("carrier list")),
    async () => (await carriers()).listCarriers(),
  );
}
