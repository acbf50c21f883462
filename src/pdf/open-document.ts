import type { Pool } from "pg";
import { asRole } from "../postgres/as-role.ts";
import { hashSecret } from "../lib/hash-secret.ts";
import { isUuid } from "../lib/uuid.ts";

/** A file in parts, because results of Postgres are limited in size. Each part is read when it is needed. */
export interface StoredFile {
  bytes: number;
  parts: AsyncIterable<Buffer>;
}

/** A document in the database. */
export interface ErpDocument {
  id: string;
  /** Null on drafts, and perhaps on uploaded files. */
  number: string | null;
  /** Whether it was uploaded as a finished file. */
  static: boolean;
  /** The uploaded or archived file. Null if the document has no such file, and until its PDF is rendered from its config. */
  content: StoredFile | null;
  contentType: string | null;
  config: unknown;
}

const partBytes = 4_000_000;

/**
 * Reads the document with this id and code; null if one of them is wrong.
 *
 * @param format whose file is read: pdf, which includes uploaded files, or xml
 */
export async function openErpDocument(
  pool: Pool,
  id: string,
  code: string,
  format: string,
): Promise<ErpDocument | null> {
  if (!isUuid(id.toLowerCase())) return null;
  const hash = hashSecret(code);
  const read = <Row extends object>(columns: string, ...values: number[]) =>
    asRole(pool, "service_document", async (client) => {
      const text = `select ${columns} from erp.open_document($1, $2, $3)`;
      return (await client.query<Row>(text, [id, hash, format, ...values])).rows;
    });
  const [row] = await read<Omit<ErpDocument, "id" | "content"> & { bytes: number | null; first: Buffer }>(
    `document_number as number, static, content_type as "contentType", config,
      octet_length(content) as bytes, substring(content for ${partBytes}) as first`,
  );
  if (!row) return null;
  const { bytes, first, ...document } = row;
  if (bytes === null) return { id, ...document, content: null };
  async function* parts(): AsyncGenerator<Buffer> {
    yield first;
    for (let from = partBytes; from < bytes!; from += partBytes) {
      const [next] = await read<{ part: Buffer }>(
        `substring(content from $4 for ${partBytes}) as part`,
        from + 1,
      );
      if (!next) throw new Error("The document was deleted while it was read.");
      yield next.part;
    }
  }
  return { id, ...document, content: { bytes, parts: parts() } };
}

/**
 * Archives a document's rendered PDF, unless it is a draft.
 *
 * @returns the PDF to send: the archived one, if another request has archived it first
 */
export function keepPdf(pool: Pool, id: string, code: string, pdf: Uint8Array): Promise<Buffer> {
  return asRole(pool, "service_document", async (client) => {
    const text = "select erp.keep_pdf($1, $2, $3) as pdf";
    return (await client.query<{ pdf: Buffer }>(text, [id, hashSecret(code), pdf])).rows[0]!.pdf;
  });
}
