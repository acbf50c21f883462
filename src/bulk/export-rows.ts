import type { ErrorCode } from "../errors/api-error.ts";
import { contextFor } from "../versions/context.ts";
import type { Reader } from "../versions/reader.ts";
import { packText } from "./chunks.ts";
import { csvWriter } from "./export-csv.ts";
import { exportLines } from "./export-lines.ts";
import type { Line, RunQuery } from "./export-lines.ts";
import { exportQueries, RefusedExport } from "./export-query.ts";
import type { ExportQueries } from "./export-query.ts";
import type { Failure, Outcome, ClaimedExport, WorkTools } from "./bulk-operation.ts";
import { isCsv, isForImport } from "./formats.ts";
import { openSnapshot } from "./snapshot.ts";
import { withTrace } from "./traced.ts";

/** Characters of a chunk of the file, and characters for one point. */
const [chunkCharacters, charactersPerPoint] = [1_000_000, 100_000];
/** Milliseconds between two checks whether the export may continue. */
const renewEveryMs = 2_000;
/** Most milliseconds of an export. Postgres keeps the old rows of its snapshot all that time. */
const maxMs = 3_600_000;

/** Thrown to end an export early. */
class ExportEnded extends Error {
  readonly outcome: Failure | "left";

  constructor(outcome: Failure | "left") {
    super("ended");
    this.outcome = outcome;
  }
}

/**
 * Writes all rows of a list to a file, from one snapshot. Output of an earlier process comes from another snapshot and is
 * replaced.
 */
export async function exportRows(taken: ClaimedExport, tools: WorkTools): Promise<Outcome> {
  for (let most = tools.pageSize; ; most = Math.ceil(most / 8)) {
    const outcome = await exportByPages(taken, tools, most);
    // A page exceeded the size of a result, so its connection was closed and the snapshot lost
    const isTooLong = outcome !== null && outcome !== "left" && outcome.code === "QUERY_TOO_COMPLEX";
    if (!isTooLong || most === 1) return outcome;
  }
}

/** Exports with a page size. @param pageSize rows of a page of the list or of a nested list */
async function exportByPages(taken: ClaimedExport, tools: WorkTools, pageSize: number): Promise<Outcome> {
  const { pool, readPool } = tools;
  try {
    await requireRights(taken, taken.scopes ?? [], tools);
    const reader = tools.reader();
    const queries = exportQueries(reader.schema, taken.query, taken.variables, pageSize);
    const { rows } = await pool.query<{ is_ours: boolean }>(
      "select bulk.begin_result($1, $2, $3) as is_ours",
      [taken.id, taken.claim, queries.key],
    );
    if (!rows[0]!.is_ours) return "left";
    const snapshot = await openSnapshot(readPool, tools.trace);
    try {
      const file = new ResultFile(taken, tools, queries);
      const run = makeRunner(taken, reader, snapshot.withPgClient);
      const end = performance.now() + maxMs;
      let renewed = performance.now();
      for await (const lines of exportLines(queries, run, isForImport(taken.format))) {
        await file.add(lines);
        if (tools.stopping.aborted) return "left";
        if (performance.now() > end) return { code: "QUERY_TIMEOUT", message: "It took more than an hour." };
        if (performance.now() < renewed + renewEveryMs) continue;
        await renew(taken, tools);
        renewed = performance.now();
      }
      await file.end();
      return null;
    } finally {
      await snapshot.close();
    }
  } catch (error) {
    if (error instanceof ExportEnded) return error.outcome;
    // The schema has changed, or an earlier release accepted the query
    if (error instanceof RefusedExport) return { code: "BAD_USER_INPUT", message: error.message };
    throw error;
  }
}

/** Temporary errors: another attempt may succeed. */
const temporaryErrors = new Set<ErrorCode>([
  "SERVICE_UNAVAILABLE",
  "CONFLICT_RETRY",
  "INTERNAL_SERVER_ERROR",
]);

function makeRunner(
  { id, variables, locale, credential_id: credentialId, scopes }: ClaimedExport,
  reader: Reader,
  withPgClient: Parameters<Reader["execute"]>[3],
): RunQuery {
  const caller = { credentialId, scopes: new Set(scopes), scopeText: (scopes ?? []).join(" ") };
  const context = contextFor(caller, id, locale ?? undefined);
  return async (document, more) => {
    const { data, errors } = await reader.execute(document, { ...variables, ...more }, context, withPgClient);
    const [error] = errors ?? [];
    if (!error) return data as Record<string, unknown>;
    const { code, retryable } = error.extensions as { code: ErrorCode; retryable?: boolean };
    if (temporaryErrors.has(code) && retryable !== false) throw error;
    throw new ExportEnded({ code, message: error.message });
  };
}

async function renew(taken: ClaimedExport, tools: WorkTools): Promise<void> {
  const { rows } = await tools.pool.query<{ scopes: string[] | null }>(
    "select bulk.renew($1, $2, $3) as scopes",
    [taken.id, taken.claim, tools.leaseMs],
  );
  const { scopes } = rows[0]!;
  if (scopes === null) throw new ExportEnded("left");
  await requireRights(taken, scopes, tools);
}

/** Checks the rights again. @throws {ExportEnded} if the API credential may no longer read all fields */
async function requireRights(
  { query, variables }: ClaimedExport,
  scopes: readonly string[],
  { reader }: WorkTools,
): Promise<void> {
  const refusal = await reader().refusal(query, variables, new Set(scopes));
  if (!refusal) return;
  const code =
    refusal.extensions.code === "FORBIDDEN" ? "SCOPE_MISSING" : (refusal.extensions.code as string);
  throw new ExportEnded({ code, message: refusal.message });
}

/** Writes the file of an export in chunks. */
class ResultFile {
  readonly #taken: ClaimedExport;
  readonly #tools: WorkTools;
  readonly #lineOf: (line: Line) => string;
  #texts: string[] = [];
  #characters = 0;
  #lines = 0;
  #rows = 0;
  #number = 0;

  constructor(taken: ClaimedExport, tools: WorkTools, queries: ExportQueries) {
    this.#taken = taken;
    this.#tools = tools;
    tools.trace?.beginChunk(this.#number);
    if (isCsv(taken.format)) {
      const columns = isForImport(taken.format) ? queries.keys : queries.columns;
      const writer = csvWriter({ columns }, taken.format === "csv_raw");
      this.#lineOf = writer.lineOf;
      this.#put(writer.header);
    } else this.#lineOf = ({ values }) => JSON.stringify(values);
  }

  async add(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      this.#put(this.#lineOf(line));
      this.#lines++;
      if (line.path.length === 0) this.#rows++;
    }
    if (this.#characters < chunkCharacters) return;
    await this.#store();
    this.#tools.trace?.beginChunk(++this.#number);
  }

  async end(): Promise<void> {
    await this.#store();
  }

  #put(text: string): void {
    this.#texts.push(text);
    this.#characters += text.length + 1;
  }

  async #store(): Promise<void> {
    const { id, claim, credential_id: credentialId } = this.#taken;
    const { pool, leaseMs, maxStoredBytes, spend, trace } = this.#tools;
    const text = this.#texts.map((line) => `${line}\n`).join("");
    const [lines, rows] = [this.#lines, this.#rows];
    [this.#texts, this.#characters, this.#lines, this.#rows] = [[], 0, 0, 0];
    const values = [id, claim, lines, rows, await packText(text), maxStoredBytes, leaseMs];
    const add = "select bulk.add_result($1, $2, $3, $4, $5, $6, $7) as outcome";
    const { rows: answers } = await withTrace(trace, add, () =>
      pool.query<{ outcome: "added" | "full" | "gone" }>(add, values),
    );
    const { outcome } = answers[0]!;
    if (outcome === "gone") throw new ExportEnded("left");
    if (outcome === "full")
      throw new ExportEnded({
        code: "SERVICE_UNAVAILABLE",
        message: "There is no space for more files at the moment.",
      });
    trace?.endChunk(lines);
    // Without enough points the export continues: waiting would keep the snapshot open
    await spend(credentialId, Math.ceil(text.length / charactersPerPoint));
  }
}
