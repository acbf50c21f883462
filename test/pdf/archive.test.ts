import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { voidReports } from "../lib/void-reports.ts";

let service: TestService;
before(async () => {
  service = await startService({ template: "template_demo" });
});
after(() => service.close());

const sql = async (text: string, ...values: unknown[]): Promise<any[]> =>
  (await service.owner.query(text, values)).rows;
const download = async (document: { id: string; code: string }): Promise<Buffer> => {
  const response = await fetch(`${service.url}/api/_action/document/${document.id}/${document.code}`);
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
};
const columns = "d.id, d.deep_link_code as code, d.order_id as order, d.document_number as number";
/** Returns documents that are rendered from their config. */
const documents = (condition: string, limit = 1) =>
  sql(
    `select ${columns} from erp.document d join erp.document_type t on t.id = d.document_type_id
     where not d.static and ${condition} order by d.id limit ${limit}`,
  );
const invoices = "d.document_number is not null and t.technical_name = 'invoice'";
/** Creates a document as if that many years had passed since. Returns it. */
async function old(years: number): Promise<{ id: string; code: string; number: string }> {
  const [made] = await sql(
    `insert into erp.document as d (document_type_id, order_id, document_number, deep_link_code, config, created_at)
     select document_type_id, order_id, $1, $2, config, now() - make_interval(years => $3)
     from erp.document where id = $4 returning ${columns}`,
    `OLD-${randomUUID()}`,
    randomUUID(),
    years,
    (await documents(invoices))[0].id,
  );
  return made;
}

describe("the PDF of a numbered document", () => {
  it("is archived by the first download, and the same bytes come ever after", async () => {
    const [, invoice] = await documents(invoices, 2);
    // Each of them renders the document, which takes longer than the requests need to arrive
    const pdfs = await Promise.all(Array.from({ length: 6 }, () => download(invoice)));
    const files = await sql(
      "select * from erp.document_file where document_id = $1 and format = 'pdf'",
      invoice.id,
    );
    assert.equal(files.length, 1);
    const [{ format, content_type: type, content, sha256 }] = files;
    assert.deepEqual([format, type], ["pdf", "application/pdf"]);
    for (const pdf of pdfs) assert.ok(pdf.equals(content));
    assert.deepEqual(sha256, createHash("sha256").update(content).digest());
    assert.ok((await download(invoice)).equals(content));
  });

  it("is read from the archive, not rendered again", async () => {
    const [, , invoice] = await documents(invoices, 3);
    const file = Buffer.from("rendered by an earlier version");
    await sql(
      "insert into erp.document_file (document_id, format, content_type, content) values ($1, 'pdf', 'application/pdf', $2)",
      invoice.id,
      file,
    );
    assert.ok((await download(invoice)).equals(file));
  });

  it("isn't archived for a draft, which shows what its config says now", async () => {
    const [draft] = await documents("d.document_number is null");
    const first = await download(draft);
    assert.deepEqual(await sql("select from erp.document_file where document_id = $1", draft.id), []);
    await sql(
      `update erp.document set config = config || '{"title": "Another title"}' where id = $1`,
      draft.id,
    );
    assert.ok(!(await download(draft)).equals(first));
  });

  it("isn't archived by someone without its code", async () => {
    const [, , , invoice] = await documents(invoices, 4);
    const hash = createHash("sha256").update("wrong").digest();
    await sql("select erp.keep_pdf($1, $2, $3)", invoice.id, hash, Buffer.from("forged"));
    assert.deepEqual(await sql("select from erp.document_file where document_id = $1", invoice.id), []);
  });
});

describe("a numbered document", () => {
  const refused = { code: "23001", message: /has a number and cannot be changed/ };

  it("can't be changed by its owner, except for whether it was sent", async () => {
    const [invoice] = await documents(invoices);
    const [another] = await sql("select id from erp.sales_order where id <> $1 limit 1", invoice.order);
    const changes = [
      "document_number = document_number || 'A'",
      "document_number = null",
      `config = config || '{"title": "x"}'`,
      "deep_link_code = repeat('z', 40)",
      "content = 'x', content_type = 'text/plain'",
      "static = true, config = '{}'",
      "id = gen_random_uuid()",
      "created_at = created_at - interval '20 years'",
      `order_id = '${another.id}'`,
    ];
    for (const change of changes) {
      await assert.rejects(
        sql(`update erp.document set ${change} where id = $1`, invoice.id),
        refused,
        change,
      );
    }
    await sql("update erp.document set sent = not sent where id = $1", invoice.id);
  });

  it("keeps its archived files", async () => {
    const [invoice] = await documents(invoices);
    await download(invoice);
    const ofIt = "where document_id = $1";
    const kept = { code: "23001", message: /Archived files of documents cannot be changed/ };
    await assert.rejects(sql(`update erp.document_file set content = 'x' ${ofIt}`, invoice.id), kept);
    await assert.rejects(sql(`delete from erp.document_file ${ofIt}`, invoice.id), kept);
  });

  it("keeps its order", async () => {
    await sql(voidReports);
    const [invoice] = await documents(invoices);
    await assert.rejects(sql("delete from erp.sales_order where id = $1", invoice.order), {
      code: "23001",
      constraint: "document_order_id_fkey",
    });
  });

  it("can be deleted with its files after the years that it is kept", async () => {
    const due = await old(9);
    await download(due);
    const year = new Date().getUTCFullYear();
    await sql("insert into erp.merchant (legal_name) values ('Shop') on conflict do nothing");
    await sql("update erp.merchant set retention_years = 9");
    await assert.rejects(sql("delete from erp.document where id = $1", due.id), {
      code: "23001",
      message: `Document ${due.number} must be kept until the end of ${year}.`,
    });
    await sql("update erp.merchant set retention_years = default");
    await sql("delete from erp.document where id = $1", due.id);
    assert.deepEqual(await sql("select from erp.document_file where document_id = $1", due.id), []);
    const young = await old(8);
    await assert.rejects(sql("delete from erp.document where id = $1", young.id), { code: "23001" });
  });
});

describe("dates of documents", () => {
  it("follow the merchant's time zone", async () => {
    const day = async () =>
      (await sql("select erp.local_date('2026-12-31 23:30+00')::text as day"))[0].day as string;
    await sql("insert into erp.merchant (legal_name) values ('Shop') on conflict do nothing");
    assert.equal(await day(), "2026-12-31");
    await sql("update erp.merchant set time_zone = 'Europe/Berlin'");
    assert.equal(await day(), "2027-01-01");
    await assert.rejects(sql("update erp.merchant set time_zone = 'Europe/Atlantis'"), {
      constraint: "merchant_time_zone_is_known",
    });
  });

  it("are those of today there", async () => {
    // Of these two, at least one has another date than UTC at any time
    for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
      await sql("update erp.merchant set time_zone = $1", zone);
      const [order] = await sql(
        `select o.id, (now() at time zone $1)::date::text as today from erp.sales_order o
         where cardinality(erp.billable_parts(o.id, false)) > 0 and not exists (
           select from erp.sales_order_line_item l
           where l.order_id = o.id and (l.total_price is null or l.unit_price is null)) limit 1`,
        zone,
      );
      const [{ id }] = await sql("select erp.create_invoice($1, false) as id", order.id);
      const [{ date }] = await sql(
        "select config ->> 'documentDate' as date from erp.document where id = $1",
        id,
      );
      assert.equal(date, order.today);
    }
    await sql("update erp.merchant set time_zone = default");
  });
});
