import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { asRole } from "../database/as-role.ts";
import { isUuid } from "../lib/uuid.ts";

/** A document as the database has it. */
export interface ErpDocument {
  id: string;
  /** Null on drafts, and perhaps on uploaded files. */
  number: string | null;
  /** Whether it was uploaded as a finished file. */
  static: boolean;
  /** The file, if there is one. Otherwise the document is rendered from its config. */
  content: Buffer | null;
  contentType: string | null;
  config: unknown;
}

/** The document with this id and this code; null when one of them is wrong. */
export async function openErpDocument(pool: Pool, id: string, code: string): Promise<ErpDocument | null> {
  if (!isUuid(id.toLowerCase())) return null;
  const hash = createHash("sha256").update(code).digest();
  const { rows } = await asRole(pool, "service_document", (client) =>
    client.query<Omit<ErpDocument, "id">>(
      `select document_number as number, static, content, content_type as "contentType", config
       from erp.open_document($1, $2)`,
      [id, hash],
    ),
  );
  const [row] = rows;
  return row ? { id, ...row } : null;
}
