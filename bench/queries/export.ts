import type { ApiClient } from "../../src/commands/api-client.ts";

/** Starts an export. @returns the id of the bulk operation */
export async function beginExport(client: ApiClient, query: string): Promise<string> {
  const { bulkOperationRun } = await client.execute<{
    bulkOperationRun: { bulkOperation: { id: string } };
  }>(
    "mutation ($input: BulkOperationRunInput!) { bulkOperationRun(input: $input) { bulkOperation { id } } }",
    { input: { query } },
  );
  return bulkOperationRun.bulkOperation.id;
}
