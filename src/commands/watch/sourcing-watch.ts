import { withClient } from "../../postgres/client.ts";
import { urlAsOwner } from "../../postgres/roles.ts";
import { say } from "../terminal.ts";

const definition = "select pg_get_functiondef(to_regprocedure('sourcing.plan(uuid)')) as text";

/** Says what another function sourcing.plan would have done with recent orders. */
export class SourcingWatch {
  readonly #url: string;
  #plan: string | null = null;

  /** @param adminUrl the database, as a role that may become its owner */
  constructor(adminUrl: string) {
    this.#url = urlAsOwner(adminUrl);
  }

  async look(): Promise<void> {
    try {
      const lines = await withClient(this.#url, async (client) => {
        const { rows } = await client.query<{ text: string | null }>(definition);
        const [former, present] = [this.#plan, rows[0]!.text];
        this.#plan = present;
        if (former === null || present === null || former === present) return [];
        // Never committed: it puts the former one back for a moment
        await client.query("begin");
        return (await client.query<{ line: string }>("select sourcing.compare($1) as line", [former])).rows;
      });
      if (lines.length > 0) say(`\n${lines.map(({ line }) => line).join("\n")}`);
    } catch (error) {
      say(`\nsourcing.plan can't be simulated: ${(error as Error).message}`);
    }
  }
}
