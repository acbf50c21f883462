import { withClient } from "../postgres/client.ts";
import { openForCommand } from "../migrations/open-database.ts";
import { merchantPlanLimits } from "../graphql/limits.ts";
import { readSettings } from "../process/settings.ts";
import { UserError } from "../errors/user-error.ts";
import { atTheCommandLine } from "./command-line.ts";
import { UsageError } from "./terminal.ts";

const usage = `The merchant's plan.

Usage: npm run plan -- show
       npm run plan -- set none|read_only|full [--limits JSON]

  none        the API is switched off: every request is answered with 402
  read_only   queries work, mutations are refused
  full        everything

  --limits    limits that differ from the settings while the plan is current, such as '{"cost": 4000}';
              '{}' removes them

A change takes effect at once on every process.
`;

const options = { limits: { type: "string" } } as const;

await atTheCommandLine({ usage, options, arguments: 2 }, async (values, [command, name]) => {
  const isSet = command === "set" && name !== undefined;
  if (!isSet && (command !== "show" || name !== undefined))
    throw new UsageError("It takes show, or set with the name of a plan.");
  const limits = values.limits === undefined ? null : readLimits(values.limits);
  const { url, close } = await openForCommand(readSettings());
  try {
    const plan = await withClient(url, async (client) => {
      if (isSet) await client.query("select auth.set_plan($1, $2)", [checked(name), limits]);
      const { rows } = await client.query<PlanRow>("select name, limits from auth.current_plan()");
      return rows[0]!;
    });
    console.log(`${plan.name} ${JSON.stringify(plan.limits)}`);
  } finally {
    await close();
  }
});

interface PlanRow {
  name: string;
  limits: unknown;
}

function checked(name: string): string {
  if (["none", "read_only", "full"].includes(name)) return name;
  throw new UserError(`There is no plan “${name}”. There are: none, read_only, full.`);
}

function readLimits(text: string): string {
  const { success, error } = merchantPlanLimits.safeParse(parsed(text));
  if (!success) throw new UserError(`--limits: ${error.issues.map(({ message }) => message).join("; ")}`);
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UserError("--limits is not JSON.");
  }
}
