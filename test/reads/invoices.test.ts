import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gid } from "../lib/ids.ts";
import type { DocumentShop } from "../pdf/document-shop.ts";
import { openDocumentShop } from "../pdf/document-shop.ts";

let shop: DocumentShop;
let token: string;
const made: Record<string, string> = {};
before(async () => {
  shop = await openDocumentShop();
  token = await shop.token({ read: ["documents", "orders"] });
  await shop.owner.query(`
    insert into erp.merchant (legal_name, address, vat_id, iban, payment_days) values ('Shop GmbH',
      '{"street": "Hafenweg 1", "zipcode": "20457", "city": "Hamburg", "countryIso": "DE"}', 'DE999999999', 'DE50000000000123456789', 14);
    update erp.payment_method set means_code = '58' where technical_name = 'prepaid'`);
  const setForm = (form: string) => shop.owner.query("update erp.customer set invoice_form = $1", [form]);
  const order = await shop.order();
  await setForm("zugferd");
  made.zugferd = await shop.create(order, "invoice");
  made.note = await shop.create(order, "delivery_note");
  made.storno = await shop.create(order, "storno", made.zugferd);
  await setForm("pdf");
  made.pdf = await shop.create(order, "invoice");
  const insert = async (type: string, more: string) => {
    const { rows } = await shop.owner.query(
      `insert into erp.document (document_type_id, order_id, deep_link_code, config, static, content, content_type)
       select id, $1, 'code-' || uuidv7(), '{}', ${more} from erp.document_type where technical_name = $2 returning id`,
      [order, type],
    );
    return rows[0].id;
  };
  made.draft = await insert("invoice", "false, null, null");
  made.uploadedPdf = await insert("invoice", "true, 'x', 'application/pdf; version=1.7'");
  made.uploadedPicture = await insert("invoice", "true, 'x', 'image/png'");
});
after(() => shop.close());

async function read(query: string, variables: object = {}, by = token): Promise<any> {
  const { body, text } = await shop.ask(by, { query, variables });
  assert.equal(body.errors, undefined, text);
  return body.data;
}
const idOf = (name: string) => gid("Document", made[name]!);
/** The documents of all tests, by their names. */
async function documents(fields: string): Promise<Record<string, any>> {
  const { documents: found } = await read(`{ documents(first: 250) { edges { node { id ${fields} } } } }`);
  return Object.fromEntries(
    Object.keys(made).map((name) => {
      const { node } = found.edges.find((edge: any) => edge.node.id === idOf(name));
      return [name, node];
    }),
  );
}
const amounts = "typeCode form currencyCode net tax total paid due";

describe("formats of a document", () => {
  it("are those that it can be downloaded in", async () => {
    const formats = await documents("formats");
    assert.deepEqual(
      Object.fromEntries(Object.entries(formats).map(([name, node]) => [name, node.formats])),
      {
        ...{ zugferd: ["pdf", "xml"], note: ["pdf"], storno: ["pdf", "xml"], pdf: ["pdf"] },
        ...{ draft: ["pdf"], uploadedPdf: ["pdf"], uploadedPicture: [] },
      },
    );
  });

  it("are found by the key of files", async () => {
    const client = await shop.connect();
    try {
      await client.query("begin; set local role service_api; set local enable_seqscan = off");
      const { rows } = await client.query(
        "explain (costs off) select id, formats from api_unstable.documents",
      );
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      assert.match(plan, /document_file_pkey\n *Index Cond: \(document_id = document.id\)/);
    } finally {
      await client.end();
    }
  });
});

describe("the invoice of a document", () => {
  it("has its amounts, negative in a cancellation invoice; other documents have none", async () => {
    const invoices = await documents(`invoice { ${amounts} }`);
    const invoice = {
      ...{ typeCode: "380", form: "zugferd", currencyCode: "EUR" },
      ...{ net: 289.28, tax: 31.82, total: 321.1, paid: 0, due: 321.1 },
    };
    assert.deepEqual(invoices.zugferd.invoice, invoice);
    assert.deepEqual(invoices.storno.invoice, {
      ...{ typeCode: "384", form: "zugferd", currencyCode: "EUR" },
      ...{ net: -289.28, tax: -31.82, total: -321.1, paid: 0, due: -321.1 },
    });
    assert.deepEqual(invoices.pdf.invoice, { ...invoice, form: "pdf" });
    for (const name of ["note", "draft", "uploadedPdf"]) assert.equal(invoices[name].invoice, null, name);
  });

  it("has its taxes by category and rate, which add up", async () => {
    const { zugferd } = await documents("invoice { tax net taxes { category rate net tax exemptionCode } }");
    const { taxes, net, tax } = zugferd.invoice;
    assert.deepEqual(
      taxes.map(({ category, rate, exemptionCode }: any) => [category, rate, exemptionCode]),
      [
        ["S", 7, null],
        ["S", 19, null],
      ],
    );
    const cents = (pick: (row: any) => number) =>
      taxes.reduce((sum: number, row: any) => sum + Math.round(pick(row) * 100), 0) / 100;
    assert.deepEqual([cents((row) => row.net), cents((row) => row.tax)], [net, tax]);
  });

  it("is an object of its own, which leads back to the document", async () => {
    const { invoice } = await read(
      "query ($id: ID!) { invoice(id: $id) { id documentId document { id } } }",
      {
        id: gid("Invoice", made.zugferd!),
      },
    );
    assert.deepEqual(invoice, {
      ...{ id: gid("Invoice", made.zugferd!), documentId: idOf("zugferd") },
      document: { id: idOf("zugferd") },
    });
  });
});

describe("invoices", () => {
  it("are listed, filtered and sorted by their due date", async () => {
    await shop.owner.query("update erp.invoice_figures set due_date = null where document_id = $1", [
      made.pdf,
    ]);
    const list = async (rest: string) => {
      const { invoices } = await read(`{ invoices(first: 9, ${rest}) { edges { node { id dueDate } } } }`);
      return invoices.edges.map(({ node }: any) => node);
    };
    const all = await list("orderBy: DUE_DATE_DESC");
    assert.equal(all.length, 3);
    const due = all.filter(({ dueDate }: any) => dueDate !== null);
    assert.deepEqual(
      due.map(({ id }: any) => id),
      [gid("Invoice", made.zugferd!)],
    );
    assert.match(due[0].dueDate, /^\d{4}-\d\d-\d\d$/);
    const found = await list(`filter: { dueDate: { lte: "${due[0].dueDate}" } }`);
    assert.deepEqual(found, due);
    assert.deepEqual(await list(`filter: { dueDate: { lt: "${due[0].dueDate}" } }`), []);
  });

  it("have sums by type, form and currency", async () => {
    const { invoices } = await read(`{ invoices(first: 0) {
      groupedAggregates(groupBy: [TYPE_CODE, FORM, CURRENCY_CODE]) { keys count sum { net tax total due } } } }`);
    const sum = { net: 289.28, tax: 31.82, total: 321.1, due: 321.1 };
    const negative = { net: -289.28, tax: -31.82, total: -321.1, due: -321.1 };
    assert.deepEqual(invoices.groupedAggregates, [
      { keys: ["380", "pdf", "EUR"], count: 1, sum },
      { keys: ["380", "zugferd", "EUR"], count: 1, sum },
      { keys: ["384", "zugferd", "EUR"], count: 1, sum: negative },
    ]);
  });

  it("need the scope of documents", async () => {
    const orders = await shop.token({ read: ["orders"] });
    const { codes } = await shop.ask(orders, { query: "{ invoices(first: 1) { edges { node { id } } } }" });
    assert.deepEqual(codes, ["FORBIDDEN"]);
    const { rows } = await shop.owner
      .query(`select table_name as name from information_schema.role_table_grants
      where grantee = 'service_api' and table_schema = 'erp' and table_name = 'document_file'`);
    assert.deepEqual(rows, [], "no column of files but those that the list of formats reads");
    const columns = await shop.owner
      .query(`select column_name as name from information_schema.column_privileges
      where grantee = 'service_api' and table_schema = 'erp' and table_name = 'document_file' order by 1`);
    assert.deepEqual(columns.rows, [{ name: "document_id" }, { name: "format" }]);
  });
});
