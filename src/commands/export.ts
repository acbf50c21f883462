import { createWriteStream, existsSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UserError } from "../errors/user-error.ts";
import { ApiClient, clientVariables } from "./api-client.ts";
import { atTheCommandLine } from "./command-line.ts";
import { readText } from "./operation-files.ts";
import { ProgressBar } from "./progress.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `Writes all rows of a list of the API to a file, as they are at one moment.

Usage: npm run export -- <file.graphql or query> <out.jsonl|out.csv> [--variables JSON] [--raw]

  --raw   CSV without the apostrophes that keep spreadsheets from running texts as formulas

  npm run export -- '{ products { edges { node { productNumber name } } } }' products.csv

${clientVariables} They need to read what the query asks for, and to write bulk_operations.
Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

const run = `mutation ($input: BulkOperationRunInput!) {
  bulkOperationRun(input: $input) { bulkOperation { id } userErrors { message } } }`;

interface Asked {
  bulkOperationRun: { bulkOperation: { id: string } | null; userErrors: { message: string }[] };
}

function variablesIn(text = "{}"): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError("--variables is no JSON.", { cause });
  }
}

await atTheCommandLine(
  { usage, options: { variables: { type: "string" }, raw: { type: "boolean" } }, arguments: 2 },
  async (values, [source, path]) => {
    if (source === undefined || path === undefined) throw new UsageError("Which query, and which file?");
    const [, extension] = /\.(jsonl|csv)$/.exec(path) ?? [];
    if (extension === undefined) throw new UsageError("The file is a .jsonl or a .csv.");
    if (values.raw && extension !== "csv") throw new UsageError("--raw is for a .csv.");
    const format = values.raw ? "csv_raw" : extension;
    const variables = variablesIn(values.variables);
    const query = existsSync(source) ? await readText(source) : source;
    const client = new ApiClient();
    const { bulkOperationRun: asked } = await client.ask<Asked>(run, { input: { query, variables, format } });
    if (!asked.bulkOperation) throw new UserError(asked.userErrors[0]?.message ?? "It was refused.");
    const bar = new ProgressBar("Reading", "lines", 0);
    const done = await client
      .follow(asked.bulkOperation.id, ({ doneCount }) => bar.show(doneCount, doneCount))
      .finally(() => bar.end());
    if (done.resultUrl === null)
      throw new UserError(`It is ${done.state}. ${done.errorMessage ?? ""}`.trim());
    const { body } = await client.send(done.resultUrl, {});
    await pipeline(Readable.fromWeb(body as never), createWriteStream(path));
    say(`${done.doneCount} lines of ${done.rowCount} rows: ${path}`);
  },
);
