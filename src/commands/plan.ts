import type pg from "pg";
import { merchantPlanLimits } from "../graphql/limits.ts";
import { UserError } from "../errors/user-error.ts";
import { parseJson } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

interface PlanRow {
  name: string;
  limits: unknown;
}

export const showPlan = (): Promise<void> => asOwner(printPlan);

export async function setPlan(name: string, { limits }: { limits?: string }): Promise<void> {
  const checked = limits === undefined ? null : readLimits(limits);
  await asOwner(async (client) => {
    await client.query("select auth.set_plan($1, $2)", [name, checked]);
    await printPlan(client);
  });
}

async function printPlan(client: pg.Client): Promise<void> {
  const { rows } = await client.query<PlanRow>("select name, limits from auth.current_plan()");
  const { name, limits } = rows[0]!;
  console.log(`${name} ${JSON.stringify(limits)}`);
}

function readLimits(text: string): string {
  const { success, error } = merchantPlanLimits.safeParse(parseJson(text, "--limits is not JSON."));
  if (!success) throw new UserError(`--limits: ${error.issues.map(({ message }) => message).join("; ")}`);
  return text;
}
