import type { ClientBase } from "pg";
import { bulkFilesAbout } from "./bulk-files.ts";
import { answersAbout, findCustomer, sequencesAbout, subjectsOf } from "./find.ts";

interface DocumentRow {
  document_number: string | null;
  config: object;
  content: Buffer | null;
  content_type: string | null;
}

const linesOf = (table: string, key: string) =>
  `(select coalesce(jsonb_agg(l order by l.id), '[]') from ${table} l where l.${key} = r.id)`;

/** A row with what belongs to it. */
const parts: Record<string, string> = {
  orders: `select to_jsonb(r) || jsonb_build_object('line_items', ${linesOf("erp.sales_order_line_item", "order_id")}) as row
    from erp.sales_order r where r.id = any ($1)`,
  quotes: `select to_jsonb(r) || jsonb_build_object('line_items', ${linesOf("erp.quote_line_item", "quote_id")}) as row
    from erp.quote r where r.id = any ($1)`,
  fulfillment_orders: `select to_jsonb(r) || jsonb_build_object('line_items',
      ${linesOf("erp.fulfillment_order_line_item", "fulfillment_order_id")}) as row
    from erp.fulfillment_order r where r.id = any ($1)`,
  fulfillments: "select to_jsonb(r) as row from erp.fulfillment r where r.id = any ($1)",
  labels: "select to_jsonb(r) as row from erp.shipping_label r where r.id = any ($1)",
  returns: "select to_jsonb(r) as row from erp.return_order r where r.id = any ($1)",
  receipts: "select to_jsonb(r) as row from erp.goods_receipt r where r.id = any ($1)",
};

/** All that the database has about a customer, as of one moment. */
export async function exportCustomer(client: ClientBase, given: string): Promise<object> {
  await client.query("begin isolation level repeatable read");
  try {
    const found = await findCustomer(client, given);
    const rowsOf = async (text: string, ...values: unknown[]) =>
      (await client.query<{ row: object }>(text, values)).rows.map(({ row }) => row);
    const [customer] = await rowsOf(
      `select to_jsonb(r) || jsonb_build_object('tags', (
         select coalesce(jsonb_agg(t.name order by t.name), '[]') from erp.customer_tag c join erp.tag t on t.id = c.tag_id
         where c.customer_id = r.id)) as row
       from erp.customer r where r.id = $1`,
      found.customer,
    );
    const related: Record<string, object[]> = {};
    for (const [name, text] of Object.entries(parts))
      related[name] = await rowsOf(text, found[name as "orders"]);
    const sequences = await sequencesAbout(client, subjectsOf(found));
    const all = {
      customer,
      ...related,
      documents: await documents(client, found.documents),
      events: await rowsOf(
        `select to_jsonb(e) || jsonb_build_object('deliveries', (
           select coalesce(jsonb_agg(to_jsonb(d) || jsonb_build_object('attempts', (
             select coalesce(jsonb_agg(a order by a.number), '[]') from events.delivery_attempt a where a.delivery_id = d.id
           )) order by d.id), '[]') from events.delivery d where d.sequence = e.sequence)) as row
         from events.event e where e.sequence = any ($1) order by e.sequence`,
        sequences,
      ),
      events_to_be_numbered: await rowsOf(
        "select to_jsonb(o) as row from events.outbox o where o.subject_id = any ($1) order by o.position",
        subjectsOf(found),
      ),
      answers_of_idempotency_keys: await rowsOf(
        `select to_jsonb(k) - 'request' as row from mutation.idempotency_key k where ${answersAbout}`,
        [found.customer, ...found.orders, found.email.toLowerCase()],
      ),
      bulk_operations: await bulkFilesAbout(client, found),
      audit: await rowsOf(
        "select to_jsonb(a) as row from auth.audit_event a where a.action ~ '^customer[.]' and a.subject = $1 order by a.id",
        found.customer,
      ),
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
