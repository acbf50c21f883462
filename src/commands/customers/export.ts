import type { ClientBase } from "pg";
import { findBulkFiles } from "./bulk-files.ts";
import { findCustomer } from "./find.ts";

interface DocumentRow {
  id: string;
  config: object;
  content: Buffer | null;
  content_type: string | null;
  /** The config that the PDF is rendered from. */
  source: unknown;
  xml: Buffer | null;
  /** SHA-256 of the deep link code. */
  hash: Buffer;
}

/** Kinds of rows of erp.export_customer, of which there may be none. */
const kinds = [
  ...["orders", "quotes", "fulfillment_orders", "fulfillments", "labels", "returns", "receipts"],
  ...["events", "events_to_be_numbered", "answers_of_idempotency_keys", "audit"],
];

/** All that the database has about a customer, as of one moment. */
export async function exportCustomer(client: ClientBase, given: string): Promise<object> {
  await client.query("begin isolation level repeatable read");
  try {
    const found = await findCustomer(client, given);
    const { rows } = await client.query<{ kind: string; content: object }>(
      "select * from erp.export_customer($1)",
      [found.customer],
    );
    const ofKind = (wanted: string) =>
      rows.filter(({ kind }) => kind === wanted).map(({ content }) => content);
    const all = {
      customer: ofKind("customer")[0],
      ...Object.fromEntries(kinds.map((kind) => [kind, ofKind(kind)])),
      documents: await documents(client, found.documents),
      bulk_operations: await findBulkFiles(client, found),
    };
    await client.query("select auth.note_event('customer.exported', $1)", [found.customer]);
    await client.query("commit");
    return { exported_at: new Date().toISOString(), ...all };
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** Documents with their files, as clients get them. */
async function documents(client: ClientBase, ids: string[]): Promise<object[]> {
  const { rows } = await client.query<DocumentRow>(
    `select d.*, t.technical_name as type, o.content, o.content_type, o.config as source, x.content as xml, h.hash
     from erp.document d
     join erp.document_type t on t.id = d.document_type_id
     cross join lateral (select sha256(convert_to(d.deep_link_code, 'UTF8')) as hash) h
     cross join lateral erp.open_document(d.id, h.hash) o
     left join erp.document_file x on x.document_id = d.id and x.format = 'xml'
     where d.id = any ($1) order by d.created_at, d.id`,
    [ids],
  );
  // Only those who have documents wait for the library
  const { renderPdf } = rows.length > 0 ? await import("../../pdf/render-pdf.ts") : { renderPdf: null };
  return Promise.all(
    rows.map(async ({ content, content_type: type, hash, source, xml, ...row }) => {
      const isDrawn = content === null && Object.keys(row.config).length > 0;
      const file = isDrawn ? await keep(client, row.id, hash, await renderPdf!(source)) : content;
      const contentType = isDrawn ? "application/pdf" : type;
      return {
        ...row,
        file: file && { content_type: contentType, base64: file.toString("base64") },
        ...(xml && { xml: xml.toString() }),
      };
    }),
  );
}

/** Archives a rendered document. Returns the archived PDF. */
async function keep(client: ClientBase, id: string, hash: Buffer, pdf: Buffer): Promise<Buffer> {
  const text = "select erp.keep_pdf($1, $2, $3) as pdf";
  return (await client.query<{ pdf: Buffer }>(text, [id, hash, pdf])).rows[0]!.pdf;
}
