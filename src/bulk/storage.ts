import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import { asRole } from "../postgres/as-role.ts";
import { errorCodeOf } from "../errors/postgres-errors.ts";
import { isUuid } from "../lib/uuid.ts";
import type { ExportFormat, Format } from "./formats.ts";
import { hashSecret } from "../lib/hash-secret.ts";

/** The sender and the kind of an upload. */
export interface UploadRequest {
  credentialId: string;
  scopes: readonly string[];
  /** The beginning of an upsert's name in SQL, such as `sales_channels`. */
  resource: string;
  format: Format;
  idempotencyKey: string | null;
  /** Null when it isn't traced. */
  traceparent: string | null;
}

/** An upload that has begun. */
export interface BegunUpload {
  id: string;
  claim: string;
  /** Whether this request stores the file. Otherwise it was uploaded before. */
  isOurs: boolean;
  /** Whether the previous upload with this idempotency key, if any, had the same resource and format. */
  isSame: boolean;
  /** SHA-256 of the text of the earlier file; null if it isn't stored. */
  contentSha256: Buffer | null;
}

/** The rights to the files of a bulk operation. */
export interface FileRights {
  resource: string;
  /** Null for an import. */
  query: string | null;
  variables: Record<string, unknown> | null;
  /** Current scopes of its API credential; null if the credential has no rights any more. */
  scopes: string[] | null;
}

/** A reason why a row was refused. */
export interface Refusal {
  line: number;
  number: number;
  code: string;
  message: string;
  field: string[];
  details: unknown;
}

/** Stores and reads the files of bulk operations in the database, for requests. */
export class BulkStorage {
  readonly #pool: Pool;

  /** @param pool connections of the login role */
  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async begin({
    credentialId,
    scopes,
    resource,
    format,
    idempotencyKey,
    traceparent,
  }: UploadRequest): Promise<BegunUpload> {
    const claim = randomUUID();
    const [begun] = await this.#query<Omit<BegunUpload, "claim">>(
      `select id, is_ours as "isOurs", is_same as "isSame", content_sha256 as "contentSha256"
       from bulk.begin_upload($1, $2, $3, $4, $5, $6, $7)`,
      [credentialId, scopes, resource, format, idempotencyKey, claim, traceparent],
    );
    return { ...begun!, claim };
  }

  async add(
    { id, claim }: BegunUpload,
    rows: number,
    content: Buffer,
    maxStoredBytes: number,
  ): Promise<"added" | "full" | "gone"> {
    const [added] = await this.#query<{ outcome: "added" | "full" | "gone" }>(
      "select bulk.add_chunk($1, $2, $3, $4, $5) as outcome",
      [id, claim, rows, content, maxStoredBytes],
    );
    return added!.outcome;
  }

  /** Ends an upload. @returns the number of rows; null if the upload was cancelled, or was started again elsewhere */
  async end({ id, claim }: BegunUpload, contentSha256: Buffer): Promise<number | null> {
    const [ended] = await this.#query<{ rows: number | null }>("select bulk.end_upload($1, $2, $3) as rows", [
      id,
      claim,
      contentSha256,
    ]);
    return ended!.rows;
  }

  async drop({ id, claim }: BegunUpload): Promise<void> {
    await this.#query("select bulk.drop_upload($1, $2)", [id, claim]);
  }

  /** Reads the current rights to the files of an operation; null if the id or the code is wrong, or has expired. */
  async rightsToFiles(id: string, code: string): Promise<FileRights | null> {
    if (!isUuid(id.toLowerCase())) return null;
    const values = [id, hashSecret(code)];
    const [rights] = await this.#query<FileRights>("select * from bulk.rights_to_files($1, $2)", values);
    return rights ?? null;
  }

  /** Reads the reasons why rows were refused, page by page; null if the id or the code is wrong. */
  async openErrors(id: string, code: string): Promise<AsyncIterable<Refusal[]> | null> {
    if (!isUuid(id.toLowerCase())) return null;
    const hash = hashSecret(code);
    const page = (last?: Refusal) =>
      this.#query<Refusal>("select * from bulk.open_errors($1, $2, $3, $4)", [
        id,
        hash,
        last?.line ?? -1,
        last?.number ?? 0,
      ]);
    return (await openPages(page))?.pages ?? null;
  }

  /** Reads the parts of an export's file; null if the id or the code is wrong. */
  async openResult(
    id: string,
    code: string,
  ): Promise<{ format: ExportFormat; parts: AsyncIterable<Buffer> } | null> {
    if (!isUuid(id.toLowerCase())) return null;
    const hash = hashSecret(code);
    const part = async (last?: Part) => {
      const values = [id, hash, last?.number ?? -1];
      return this.#query<Part>("select * from bulk.open_result($1, $2, $3)", values);
    };
    const file = await openPages(part);
    return file && { format: file.first[0]!.format, parts: readContents(file.pages) };
  }

  async #query<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
    const { rows } = await asRole(this.#pool, "service_worker", (client) => client.query<Row>(text, values));
    return rows;
  }
}

/** A part of a file. */
interface Part {
  number: number | null;
  content: Buffer | null;
  format: ExportFormat;
}

async function* readContents(pages: AsyncIterable<Part[]>): AsyncGenerator<Buffer> {
  for await (const [part] of pages) {
    if (part?.content == null) return;
    yield part.content;
  }
}

/** Reads the first page of a file, and returns it with an iterator of all pages; null if the file can't be opened. */
async function openPages<Row>(
  page: (last?: Row) => Promise<Row[]>,
): Promise<{ first: Row[]; pages: AsyncIterable<Row[]> } | null> {
  let first: Row[];
  try {
    first = await page();
  } catch (error) {
    if (errorCodeOf(error) === "P0002") return null; // no_data_found
    throw error;
  }
  const pages = async function* () {
    for (let rows = first; rows.length > 0; rows = await page(rows.at(-1))) yield rows;
  };
  return { first, pages: pages() };
}
