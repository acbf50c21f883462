import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { IncomingMessage } from "node:http";
import { createPool } from "../../src/postgres/pool.ts";
import { serveMeasured } from "../child/serve.ts";
import { readClaims } from "../child/token.ts";
import type { LimitStatement } from "./pipelined.ts";
import { pipelined } from "./pipelined.ts";
import { inTransaction } from "./in-transaction.ts";

// The minimal server that checks a token and leaves rights to row-level security: no GraphQL, one hand-written
// statement for each query, which Postgres answers with finished JSON.

const folder = new URL("sql/", import.meta.url);

async function readStatements(): Promise<Map<string, LimitStatement>> {
  const files = await readdir(folder);
  const entries = files.map(async (file) => {
    const name = file.replace(/\.sql$/, "");
    return [`/${name}`, { name, text: await readFile(new URL(file, folder), "utf8") }] as const;
  });
  return new Map(await Promise.all(entries));
}

const run = process.env.PIPELINED === "true" ? pipelined : inTransaction;
const statements = await readStatements();
const pool = createPool(process.env.DATABASE_URL!, { max: Number(process.env.DATABASE_POOL_SIZE) });
// The timers of `pg` keep answers in memory (src/postgres/pipeline/answer-deadline.ts), and nothing here needs them
Object.assign(pool.options, { query_timeout: 0 });

async function answer(request: IncomingMessage): Promise<string> {
  const claims = await readClaims(request.headers);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const values = JSON.parse(Buffer.concat(chunks).toString()) as string[];
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    return await run(client, claims, statements.get(request.url!)!, values);
  } catch (error) {
    failure = error as Error;
    throw error;
  } finally {
    client.release(failure);
  }
}

const server = createServer((request, response) => {
  answer(request).then(
    (json) => {
      response.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(json),
      });
      response.end(json);
    },
    (error: unknown) => response.writeHead(500).end(JSON.stringify({ errors: [{ message: String(error) }] })),
  );
});
await serveMeasured(server);
