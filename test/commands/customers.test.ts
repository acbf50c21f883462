import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { join } from "node:path";
import pg from "pg";
import { packText, unpackText } from "../../src/bulk/chunks.ts";
import { anonymizeCustomer } from "../../src/commands/customers/anonymize.ts";
import { gid, uuidOf } from "../lib/ids.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { Commands, runOn, temporaryFolder } from "./process.ts";

// A customer who has bought, in a shop with another one
let shop: ShippingShop;
let commands: Commands;
let channel: string;
let ada: string;
let other: string;
let order: string;
let labelUrl: string;
before(async () => {
  shop = await openShippingShop();
  const [made] = await shop.sql(`
    with country as (insert into erp.country (iso_code, name) values ('DE', '{"en-GB":"Germany"}') returning id),
    kind as (insert into erp.customer_group (name) values ('{"en-GB":"Retail"}') returning id),
    method as (insert into erp.payment_method (technical_name) values ('test_bill') returning id)
    insert into erp.sales_channel (name, country_id, currency_id, customer_group_id, payment_method_id)
    select '{"en-GB":"Shop"}', country.id, c.id, kind.id, method.id
    from country, kind, method, erp.currency c where c.iso_code = 'EUR' returning id`);
  channel = gid("SalesChannel", made.id);
  await shop.sql(`
    insert into erp.number_range (technical_name, pattern) values ('customer', 'K-{n}'), ('document_invoice', 'IN-{n}'),
      ('document_delivery_note', 'DN-{n}') on conflict (technical_name) do nothing;
    insert into erp.document_type (technical_name, name, number_range)
      select n, '{"en-GB":"Document"}', 'document_' || n from unnest('{invoice,delivery_note}'::text[]) n
      on conflict (technical_name) do nothing;
    insert into erp.merchant (legal_name, address) values ('Shop', '{"city": "Hamburg"}')
      on conflict do nothing;
    insert into events.webhook_subscription (topic, url, api_version) values ('customer.updated', 'https://receiver.example', 'unstable')`);
  await shop.store("hammer", "A-1", 10);
  await buy();
  commands = new Commands(shop.adminUrl);
});
after(async () => {
  await commands.close();
  await shop.close();
});

const values = {
  email: "ada.lovelace@analytical.example",
  firstName: "Augusta Ada",
  lastName: "Lovelace-Byron",
  title: "Countess",
  company: "Analytical Engines Ltd",
  vatIds: ["GB987654321"],
  storefrontId: "storefront-4711",
  buyerReference: "Engine room 7",
  electronicAddress: "invoices@analytical.example",
  registrationId: "LONDON-1815",
};
const address = {
  ...{
    firstName: "Augusta Ada",
    lastName: "Lovelace-Byron",
    street: "St James's Square 12",
    zipcode: "SW1Y-4JH",
  },
  ...{
    city: "Westminster",
    phoneNumber: "+44 20 7946 0958",
    countryIso: "GB",
    countryName: "United Kingdom",
  },
};
const telling = [
  ...Object.values(values).flat(),
  ...Object.entries(address).flatMap(([key, value]) => (key.startsWith("country") ? [] : [value])),
  ...["TRACK-0815-ADA", "leave it with Babbage", "call Ada before noon", "PO-ADA-1843", "Reference of Ada"],
];

const customers = (rows: object[], more = {}) =>
  shop.mutate(
    "customersUpsert",
    { customers: rows, ...more },
    { select: "customers { id customerNumber } results { userErrors { message } }" },
  );
const orders = (rows: object[]) =>
  shop.mutate(
    "ordersUpsert",
    { orders: rows },
    { select: "orders { id } results { userErrors { message } }" },
  );
const command = (...words: string[]) => commands.run({ args: ["customers", ...words] });
const one = async (text: string, ...ids: string[]) => (await shop.sql(text, ...ids))[0];

/** What the customer has left in the shop. */
async function buy(): Promise<void> {
  const row = { ...values, electronicAddressScheme: "EM", salesChannelId: channel };
  const idempotencyKey = "of ada";
  const { customers: made, ...outcome } = await customers(
    [
      row,
      {
        customerNumber: "K-2",
        email: "other@shop.example",
        firstName: "Charles",
        lastName: "B",
        salesChannelId: channel,
      },
    ],
    { idempotencyKey },
  );
  assert.equal(made?.length, 2, JSON.stringify(outcome));
  [ada, other] = made.map(({ id }: any) => id);
  const lineItems = [
    { storefrontId: "l1", productNumber: "hammer", quantity: 2, unitPrice: 11.9, taxRate: 19 },
  ];
  const ofAda = {
    customerId: ada,
    salesChannelId: channel,
    shippingAddress: address,
    billingAddress: address,
    buyerReference: "Reference of Ada",
    purchaseOrderNumber: "PO-ADA-1843",
    lineItems,
  };
  const { orders: bought, results } = await orders([{ ...ofAda, storefrontId: "o1", orderNumber: "1001" }]);
  assert.ok(bought?.[0], JSON.stringify(results));
  order = bought[0].id;
  await shop.sql(
    `insert into erp.fulfillment_order (number, state, destination_order_id, shipping_address, hold_comment)
       select 'FO-ada', 'Cancelled', id, shipping_address, 'call Ada before noon' from erp.sales_order where id = $1`,
    order,
  );
  await shop.sql(
    `insert into erp.shipping_label (order_id, carrier_technical_name, tracking_codes, tracking_url)
     values ($1, 'dhl', '["TRACK-0815-ADA"]', 'https://carrier.example/TRACK-0815-ADA')`,
    order,
  );
  const printed = await shop.owner.query(
    `with file as (
       insert into erp.shipping_label_file (shipping_label_id, code, content_type, content)
       select id, repeat('c', 32), 'text/plain', convert_to($2, 'UTF8') from erp.shipping_label where order_id = $1
       returning shipping_label_id as id, code
     )
     update erp.shipping_label l set document_url = format('/api/_action/document/%s/%s', f.id, f.code)
     from file f where l.id = f.id returning document_url as url`,
    [uuidOf(order), `To ${address.street}`],
  );
  labelUrl = printed.rows[0].url;
  await shop.sql(
    `insert into erp.carrier (technical_name, name, url, secret) values ('dhl', 'DHL', 'http://127.0.0.1:9', 'x')
     on conflict do nothing`,
  );
  await shop.sql(
    `insert into erp.shipping_label (order_id, carrier_technical_name, state, parcel_number)
     values ($1, 'dhl', 'requested', 1)`,
    order,
  );
  await shop.sql(
    `insert into erp.stock_reservation (product_id, warehouse_id, order_line_item_id, quantity, open_quantity, state, reference, note)
     select l.product_id, w.id, l.id, 1, 0, 'released', 'call Ada before noon', 'leave it with Babbage'
     from erp.sales_order_line_item l, erp.warehouse w where l.order_id = $1 limit 1`,
    order,
  );
  await shop.sql("insert into erp.tag (name) values ('VIP') on conflict do nothing");
  await shop.sql("insert into erp.customer_tag (customer_id, tag_id) select $1, id from erp.tag", ada);
  await shop.sql(
    `insert into erp.quote (number, customer_id, currency_id, comment, decline_reason, billing_address)
     select 'Q-ada', $1, id, 'leave it with Babbage', 'leave it with Babbage',
       '{"street": "leave it with Babbage", "countryIso": "GB"}' from erp.currency where iso_code = 'EUR'`,
    ada,
  );
}

/** Every row of every table and all statistics as text, but for documents; compressed files as they are unpacked. */
async function dump(): Promise<Map<string, string>> {
  const tables = await shop.sql(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname !~ '^pg_|^information_schema$' and c.oid <> 'erp.document'::regclass`,
  );
  const texts = new Map<string, string>();
  const admin = new pg.Client({ connectionString: shop.adminUrl });
  await admin.connect();
  for (const { name } of [...tables, { name: "pg_stats" }]) {
    const { rows } = await admin.query(`select t::text as row from ${name} t`);
    texts.set(name, rows.map(({ row }) => row).join("\n"));
  }
  const { rows } = await admin.query("select content from bulk.chunk");
  texts.set("files", (await Promise.all(rows.map(({ content }) => unpackText(content)))).join("\n"));
  await admin.end();
  return texts;
}

/** Which tables have which of the values. */
const leaks = async () =>
  [...(await dump())].flatMap(([table, text]) =>
    telling.filter((value) => text.includes(value)).map((value) => `${table}: ${value}`),
  );

test("it is refused while an open order needs the address, and nothing is changed", async () => {
  const { exitCode, stderr } = await command("anonymize", ada);
  assert.equal(exitCode, 1);
  assert.match(
    stderr,
    /address is still needed by the order 1001, a requested label of the order 1001\. Complete or cancel/,
  );
  assert.equal((await one("select email from erp.customer where id = $1", ada)).email, values.email);
  for (const words of [["anonymize"], ["forget", ada], ["anonymize", ada, "--to", "x"], []])
    assert.equal((await command(...words)).exitCode, 2, words.join(" "));
  for (const unknown of [
    "nobody@shop.example",
    gid("Customer", "00000000-0000-0000-0000-000000000000"),
    "'",
  ]) {
    const { exitCode: code, stderr: said } = await command("anonymize", unknown);
    assert.equal(code, 1);
    assert.match(said, /There is no customer/);
  }
});

test("an export has all that there is, documents with their files", async () => {
  const { userErrors } = await shop.mutate("orderShipmentComplete", {
    orderId: order,
    ...{ documents: ["delivery_note", "invoice"], trackingCodes: ["TRACK-0815-ADA"] },
  });
  assert.deepEqual(userErrors, []);
  await shop.sql("select events.sequence_events(1000)");
  await shop.sql(
    `insert into events.delivery (subscription_id, sequence, event_id, entity_id, state)
     select s.id, e.sequence, e.id, e.entity_id, 'delivered' from events.webhook_subscription s, events.event e where e.topic = 'customer.created'`,
  );
  await shop.sql(`insert into events.delivery_attempt (delivery_id, number, status, response_body)
    select id, 1, 200, 'Thanks for ${values.email}' from events.delivery where entity_id = '${uuidOf(ada)}'`);
  const bulk = await one(
    `insert into bulk.operation (credential_id, scopes, kind, state, resource, format, query, finished_at, expires_at)
     select id, '{}', 'export', 'completed', 'customers', 'jsonl', '{ customers(search: "${values.email}") { id } }', now(), now() + interval '7 days'
     from auth.credential limit 1 returning id`,
  );
  const content = await packText(JSON.stringify({ id: ada, email: values.email, street: address.street }));
  await shop.owner.query("insert into bulk.chunk (operation_id, number, content) values ($1, 0, $2)", [
    bulk.id,
    content,
  ]);

  const folder = await temporaryFolder();
  try {
    const file = join(folder.path, "ada.json");
    const { exitCode, stderr } = await command("export", values.email.toUpperCase(), "--to", file);
    assert.equal(exitCode, 0, stderr);
    const text = await readFile(file, "utf8");
    const all = JSON.parse(text);
    for (const value of telling) assert.ok(text.includes(value), value);
    assert.equal(all.customer.id, uuidOf(ada));
    assert.deepEqual(all.customer.tags, ["VIP"]);
    assert.equal(all.orders[0].line_items[0].quantity, 2);
    assert.deepEqual(all.documents.map(({ type }: any) => type).sort(), ["delivery_note", "invoice"]);
    const [{ file: printed }] = all.labels;
    assert.equal(Buffer.from(printed.base64, "base64").toString(), `To ${address.street}`);
    assert.equal(all.labels[1].file, null);
    for (const { file: pdf } of all.documents) {
      assert.equal(pdf.content_type, "application/pdf");
      assert.equal(Buffer.from(pdf.base64, "base64").toString("latin1", 0, 5), "%PDF-");
    }
    const archived = await shop.owner.query("select content from erp.document_file");
    assert.deepEqual(
      all.documents.map(({ file: pdf }: any) => pdf.base64).sort(),
      archived.rows.map(({ content: pdf }) => pdf.toString("base64")).sort(),
    );
    const topics = [...all.events, ...all.events_to_be_numbered].map(({ topic }: any) => topic);
    for (const topic of [
      "customer.created",
      "order.created",
      "document.created",
      "fulfillment_order.created",
    ])
      assert.ok(topics.includes(topic), `${topic} among ${topics}`);
    assert.equal(all.answers_of_idempotency_keys[0].key, "of ada");
    assert.match(all.bulk_operations[0].rows[0], /St James/);
    assert.doesNotMatch(text, /other@shop\.example/);
  } finally {
    await folder.remove();
  }
});

test("it becomes anonymous everywhere but in documents, as others go on", async () => {
  const documents = () => shop.sql("select id, config, updated_at from erp.document order by id");
  const asBefore = await documents();
  await shop.sql("update erp.sales_order set state = 'completed' where id = $1", order);
  await shop.sql(
    "update erp.fulfillment_order set state = 'Closed' where destination_order_id = $1 and state <> 'Cancelled'",
    order,
  );
  const stillRequested = await command("anonymize", ada);
  assert.match(stillRequested.stderr, /needed by a requested label of the order 1001\. Complete or cancel/);
  // The carrier refuses the label, with the address in its reason. Statistics keep that, too
  await shop.owner.query(
    "update erp.shipping_label set state = 'failed', failure = $1 where state = 'requested'",
    [`There is no ${address.street}.`],
  );
  await shop.sql("analyze");
  // A change that isn't numbered yet, and an answer that shows what was given
  await customers([{ customerNumber: "C-10001", title: "Countess" + " of Lovelace" }]);
  await shop.owner.query("update mutation.idempotency_key set payload = payload || $1 where key = 'of ada'", [
    { warnings: [{ message: `Is ${values.email} right?`, details: { given: [values.lastName, 7] } }] },
  ]);
  assert.ok((await leaks()).length > 30);

  let isOver = false;
  const lineItems = [{ storefrontId: "l1", productNumber: "hammer", quantity: 1, unitPrice: 1 }];
  const client = (async () => {
    for (let n = 0; !isOver; n++) {
      const { results } = await orders([
        {
          customerId: other,
          salesChannelId: channel,
          storefrontId: `other-${n}`,
          orderNumber: `other-${n}`,
          lineItems,
        },
      ]);
      assert.deepEqual(results[0].userErrors, []);
    }
  })();
  const { exitCode, stdout, stderr } = await command("anonymize", values.email);
  isOver = true;
  await client;
  assert.equal(exitCode, 0, stderr);
  assert.match(stdout, /The customer C-10001 is anonymous now\. Changed:/);
  assert.match(stdout, /Kept as they are[^]* delivery_note DN-10001 [^]* invoice INV-10001 /);
  assert.match(stdout, /Backups, logs/);
  assert.deepEqual(await leaks(), []);
  const file = await fetch(new URL(labelUrl, shop.url));
  assert.deepEqual([file.status, (await file.json()).errors[0].extensions.code], [410, "FILE_ERASED"]);
  const { payload } = await one("select payload from mutation.idempotency_key where key = 'of ada'");
  assert.deepEqual(payload.warnings, [{ message: "[removed]", details: { given: ["[removed]", 7] } }]);
  assert.ok(payload.customers.includes(uuidOf(ada)));
  assert.deepEqual(await documents(), asBefore);
  assert.ok(JSON.stringify(asBefore).includes(address.street));

  const { customer } = await shop.read(
    "query ($id: ID!) { customer(id: $id) { email firstName lastName company active orders(first: 1) { edges { node { trackingCodes } } } } }",
    { id: ada },
  );
  const [{ node }] = customer.orders.edges;
  assert.deepEqual(node.trackingCodes ?? [], []);
  const { address: left } = await one(
    "select shipping_address as address from erp.sales_order where id = $1",
    order,
  );
  assert.deepEqual(left, { countryIso: "GB", countryName: "United Kingdom" });
  // With all keys that are promised
  const { given } = await one(
    `select shipping_address = erp.postal_address('{"countryIso": "GB", "countryName": "United Kingdom"}') as given
     from erp.fulfillment_order where destination_order_id = $1`,
    order,
  );
  assert.equal(given, true);
  assert.equal(customer.email, `${uuidOf(ada)}@anonymized.invalid`);
  assert.deepEqual([customer.firstName, customer.active], ["Anonymized", false]);
  const events = await shop.sql(
    `select data from events.outbox where topic = 'customer.updated' and subject_id = $1
     union all select data from events.event where topic = 'customer.updated' and subject_id = $1`,
    ada,
  );
  assert.deepEqual(
    events.map(({ data }) => [data.title, data.lastName]),
    [
      [null, "Customer"],
      [null, "Customer"],
    ],
    "that of the change before, too",
  );
  const { subject, details } = await one(
    "select * from auth.audit_event where action = 'customer.anonymized'",
  );
  assert.equal(subject, uuidOf(ada));
  assert.equal(details.customer, 1);
});

test("again, it finds nothing to do", async () => {
  const count = "select count(*)::integer as n from auth.audit_event where action = 'customer.anonymized'";
  const { stdout } = await runOn(shop.adminUrl, ["customers", "anonymize", "C-10001"]);
  assert.match(stdout, /^The customer C-10001 is anonymous already\.\n/);
  assert.equal((await one(count)).n, 1);
  assert.equal(
    (await one("select first_name as name from erp.customer where id = $1", other)).name,
    "Charles",
  );
});

test("an order that somebody is changing is waited for, and one that is new is noticed", async () => {
  const row = {
    customerNumber: "K-3",
    email: "late@shop.example",
    firstName: "Late",
    lastName: "Latecomer",
    salesChannelId: channel,
  };
  const { customers: made } = await customers([row]);
  const id = uuidOf(made[0].id);
  const currency = "(select id from erp.currency where iso_code = 'EUR')";
  const insert = `insert into erp.sales_order (order_number, customer_id, currency_id, state, shipping_address)
    values ($1, $2, ${currency}, 'completed', '{"city": "Latetown"}')`;
  await shop.owner.query(insert, ["late-1", id]);
  await shop.sql(`insert into erp.sales_order_line_item (order_id, type, identifier, label, quantity)
    select id, 'custom', 'engraving', 'With the name LATECOMER', 1 from erp.sales_order where order_number = 'late-1'`);
  const [writer, anonymizer] = [1, 2].map(() => new pg.Client({ connectionString: shop.ownerUrl }));
  await Promise.all([writer!.connect(), anonymizer!.connect()]);
  try {
    await writer!.query("begin");
    await writer!.query(insert, ["late-2", id]);
    const done = anonymizeCustomer(anonymizer!, id);
    await until(
      async () => (await one("select count(*)::integer as n from pg_locks where not granted")).n > 0,
    );
    await writer!.query("commit");
    const { changed, mentions } = await done;
    assert.equal(changed.orders, 2);
    assert.match(mentions.join(), /^line \S+ of the order late-1$/);
  } finally {
    await Promise.all([writer!.end(), anonymizer!.end()]);
  }
  assert.equal(
    (
      await one(
        "select count(*)::integer as n from erp.sales_order where shipping_address ->> 'city' = 'Latetown'",
      )
    ).n,
    0,
  );
});
