import { existsSync } from "node:fs";
import { UserError } from "../errors/user-error.ts";
import { ApiClient } from "./api-client.ts";
import { progressBar } from "./progress.ts";
import { readText } from "./read-text.ts";
import { parseJson, say, UsageError } from "./terminal.ts";

const run = `mutation ($input: BulkOperationRunInput!) {
  bulkOperationRun(input: $input) { bulkOperation { id } userErrors { message } } }`;

interface Asked {
  bulkOperationRun: { bulkOperation: { id: string } | null; userErrors: { message: string }[] };
}

export async function exportFile(
  source: string,
  path: string,
  { variables: given = "{}", raw, forImport }: { variables?: string; raw?: true; forImport?: true },
): Promise<void> {
  const [, extension] = /\.(jsonl|csv)$/.exec(path) ?? [];
  if (extension === undefined) throw new UsageError("The file is a .jsonl or a .csv.");
  if (raw && extension !== "csv") throw new UsageError("--raw is for a .csv.");
  if (raw && forImport) throw new UsageError("Give either --raw or --for-import.");
  const importFormat = extension === "csv" ? "import_csv" : "import";
  const format = forImport ? importFormat : raw ? "csv_raw" : extension;
  const variables = parseJson(given, "--variables is no JSON.", UsageError);
  const query = existsSync(source) ? await readText(source) : source;
  const client = new ApiClient();
  const { bulkOperationRun: asked } = await client.execute<Asked>(run, {
    input: { query, variables, format },
  });
  if (!asked.bulkOperation) throw new UserError(asked.userErrors[0]?.message ?? "It was refused.");
  const bar = progressBar("Reading", "lines");
  const done = await client
    .follow(asked.bulkOperation.id, ({ doneCount }) => {
      bar.setTotal(doneCount);
      bar.update(doneCount);
    })
    .finally(() => bar.stop());
  if (done.resultUrl === null) throw new UserError(`It is ${done.state}. ${done.errorMessage ?? ""}`.trim());
  await client.save(done.resultUrl, path);
  say(`${done.doneCount} lines of ${done.rowCount} rows: ${path}`);
}
