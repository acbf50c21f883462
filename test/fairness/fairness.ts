// Whatever one client does, another one doesn't notice. Each attack is played by a process of its own, from one credential,
// beside a client that does nothing unusual; the service is a process, too, with its limits as they are by default.
//
//     FAIRNESS_SECONDS=30 npm run test:fairness
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { createCredential } from "../../src/auth/credentials.ts";
import type { CommandProcess } from "../commands/process.ts";
import { startCommand } from "../commands/process.ts";
import type { TestDatabase } from "../lib/database.ts";
import { openTestDatabase } from "../lib/database.ts";
import { attacks } from "./attacks.ts";
import type { Experience } from "./normal-client.ts";
import { experience } from "./normal-client.ts";

const seconds = Math.min(Number(process.env.FAIRNESS_SECONDS ?? 4), 600);
const maxMemory = 1_000 * 1_024 * 1_024;

describe("a client beside one that wants everything", () => {
  let database: TestDatabase;
  let service: CommandProcess;
  let url: string;
  let normal: string;
  let quiet: Experience;
  let owner: pg.Client;

  before(async () => {
    database = await openTestDatabase("template_demo");
    owner = new pg.Client({ connectionString: database.ownerUrl });
    await owner.connect();
    await owner.query(manyCustomers);
    service = startCommand(["start.ts"], { DATABASE_URL: database.loginUrl, WORKER_CONCURRENCY: "0" });
    url = (await service.said(/The API is at (http:\S+?)\/api/))[1]!;
    normal = await token("normal", "all");
    await experience(url, normal, 1);
    quiet = await experience(url, normal, seconds / 2);
  });
  after(async () => {
    service?.kill("SIGTERM");
    await service?.ended;
    await owner?.end();
    await database?.close();
  });

  async function token(name: string, read: string[] | "all"): Promise<string> {
    const { clientId, clientSecret } = await createCredential(owner, { name, read, write: [] });
    const response = await fetch(`${url}/api/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  }

  for (const { name, what } of attacks)
    it(`doesn't notice ${what}`, async (context) => {
      const [rich, poor] = [await token(`${name}, rich`, "all"), await token(`${name}, poor`, ["tags"])];
      const program = fileURLToPath(new URL("attacker.ts", import.meta.url));
      const attacker = spawn(process.execPath, [program, name, url, rich, poor], { stdio: "inherit" });
      let beside: Experience;
      let memory: number;
      try {
        beside = await experience(url, normal, seconds);
        memory = await peakMemory(service.pid);
      } finally {
        attacker.kill("SIGTERM");
        await once(attacker, "close");
      }
      context.diagnostic(
        `p99 ${quiet.p99.toFixed(1)} ms quiet, ${beside.p99.toFixed(1)} beside; p50 ${quiet.p50.toFixed(1)}, ` +
          `${beside.p50.toFixed(1)}; ${beside.requests} requests; ${Math.round(memory / 1_048_576)} MiB at most`,
      );
      assert.deepEqual(beside.failures, []);
      assert.ok(beside.p99 <= Math.max(100, 10 * quiet.p99), `${quiet.p99} ${beside.p99}`);
      assert.ok(memory <= maxMemory);
    });
});

const manyCustomers = `
  alter table erp.customer disable trigger user;
  insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id, account_type)
  select 'F' || n, 'f' || n || '@example.com', 'Fair', 'Customer ' || n, c.group_id, c.sales_channel_id, c.account_type
  from generate_series(1, 100000) n, (select * from erp.customer limit 1) c;
  alter table erp.customer enable trigger user`;

/** Bytes that a process has held at most. */
async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) * 1_024;
}
