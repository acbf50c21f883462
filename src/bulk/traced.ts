import type { BulkTrace } from "../tracing/spans.ts";

/** Runs a statement and adds it to the trace of its bulk operation. */
export async function withTrace<Result extends { rows: unknown[] }>(
  trace: BulkTrace | null,
  text: string,
  run: () => Promise<Result>,
): Promise<Result> {
  const began = performance.now();
  const note = (rows: number, error: Error | null) =>
    trace?.addStatement({ text, ms: performance.now() - began, rows, error });
  try {
    const result = await run();
    note(result.rows.length, null);
    return result;
  } catch (error) {
    note(0, error as Error);
    throw error;
  }
}
