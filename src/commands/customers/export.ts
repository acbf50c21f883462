import type { ClientBase } from "pg";
import { bulkFilesAbout } from "./bulk-files.ts";
import { answersAbout, eventsAbout, findCustomer } from "./find.ts";

interface DocumentRow {
  document_number: string | null;
  config: object;
  content: Buffer | null;
  content_type: string | null;
}

/** Kinds of rows of erp.export_customer, of which there may be none. */
const kinds = ["orders", "quotes", "fulfillment_orders", "fulfillments", "labels", "returns", "receipts"];

/** All that the database has about a customer, as of one moment. */
export async function exportCustomer(client: ClientBase, given: string): Promise<object> {
  await client.query("begin isolation level repeatable read");
  try {
    const found = await findCustomer(client, given);
    const rowsOf = async (text: string, ...values: unknown[]) =>
      (await client.query<{ row: object }>(text, values)).rows.map(({ row }) => row);
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
      events: await rowsOf(
        `select to_jsonb(e) || jsonb_build_object('deliveries', (
           select coalesce(jsonb_agg(to_jsonb(d) || jsonb_build_object('attempts', (
             select coalesce(jsonb_agg(a order by a.number), '[]') from events.delivery_attempt a where a.delivery_id = d.id
           )) order by d.id), '[]') from events.delivery d where d.sequence = e.sequence)) as row
         from events.event e where e.sequence = any ($1) order by e.sequence`,
        await eventsAbout(client, found.customer),
      ),
      events_to_be_numbered: await rowsOf(
        "select to_jsonb(o) as row from events.outbox o where o.subject_id = any (erp.subjects_about($1)) order by o.position",
        found.customer,
      ),
      answers_of_idempotency_keys: await rowsOf(
        `select to_jsonb(k) - 'request' as row from mutation.idempotency_key k where ${answersAbout}`,
        [found.customer, ...found.orders, found.email.toLowerCase()],
      ),
      bulk_operations: await bulkFilesAbout(client, found),
      audit: ofKind("audit"),
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
    `select d.*, t.technical_name as type from erp.document d join erp.document_type t on t.id = d.document_type_id
     where d.id = any ($1) order by d.created_at, d.id`,
    [ids],
  );
  // Only those who have documents wait for the library
  const { renderPdf } = rows.length > 0 ? await import("../../pdf/render-pdf.ts") : { renderPdf: null };
  return Promise.all(
    rows.map(async ({ content, content_type: type, ...row }) => {
      const isDrawn = content === null && Object.keys(row.config).length > 0;
      const file = isDrawn ? await renderPdf!(row.config) : content;
      const contentType = isDrawn ? "application/pdf" : type;
      return { ...row, file: file && { content_type: contentType, base64: file.toString("base64") } };
    }),
  );
}
