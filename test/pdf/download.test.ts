import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { openCuttableProxy } from "../lib/cuttable-proxy.ts";
import { read, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { readPdf } from "./pdf.ts";

let service: TestService;
let token: string;
/** An invoice, as the API returns it. */
let invoice: { id: string; downloadUrl: string; deepLinkCode: string; documentNumber: string; config: any };
before(async () => {
  service = await startService({ template: "template_demo" });
  token = await service.token();
  const query = `{ documents(first: 1, filter: { static: { equals: false }, documentNumber: { startsWith: "INV-" } }) {
    edges { node { id downloadUrl deepLinkCode documentNumber config } } } }`;
  const { body } = await service.ask(token, { query });
  invoice = body.data.documents.edges[0].node;
});
after(() => service.close());

const bare = (id: string) => id.split("/").at(-1)!;
const addressOf = (id: string, code: string) => `/api/_action/document/${id}/${code}`;
const get = (path: string, init?: RequestInit) => fetch(service.url + path, init);

/** Makes a document with a file; returns its address. */
async function upload(
  content: Buffer | null,
  contentType: string | null,
  number: string | null = null,
): Promise<string> {
  const code = randomUUID();
  const { rows } = await service.owner.query(
    `insert into erp.document (document_type_id, order_id, document_number, deep_link_code, static, content, content_type)
     select t.id, (select id from erp.sales_order order by id limit 1), $1, $2, true, $3, $4
     from erp.document_type t where t.technical_name = 'upload' returning id`,
    [number, code, content, contentType],
  );
  return addressOf(rows[0].id, code);
}

test("a document opens without a token, by the address that the API answers", async () => {
  const { downloadUrl, documentNumber, config } = invoice;
  const response = await get(downloadUrl);
  assert.equal(response.status, 200);
  const body = await response.bytes();
  const { pages, title } = await readPdf(body);
  assert.equal(title, `${config.title} ${documentNumber}`);
  assert.ok(pages[0]!.includes(config.orderNumber));
  assert.deepEqual(await (await get(downloadUrl)).bytes(), body, "the same again");
});

test("its headers keep it from caches, search engines and other sites, and scripts from running", async () => {
  const { headers } = await get(invoice.downloadUrl, { headers: { "x-request-id": "doc-1" } });
  const expected = {
    "content-type": "application/pdf",
    "content-disposition": `inline; filename="${invoice.documentNumber}.pdf"; filename*=UTF-8''${invoice.documentNumber}.pdf`,
    "x-content-type-options": "nosniff",
    "content-security-policy":
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "cache-control": "private, no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "x-robots-tag": "noindex",
    "x-request-id": "doc-1",
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name);
  assert.equal(headers.get("etag"), null);
  assert.equal(headers.get("set-cookie"), null);
});

test("a wrong code, an unknown id and a malformed id can't be told apart", async () => {
  const code = invoice.deepLinkCode;
  const id = bare(invoice.id);
  const wrong: Record<string, string> = {
    "a wrong code": addressOf(
      id,
      code.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
    ),
    "a code in capitals": addressOf(id, code.toUpperCase()),
    "a part of the code": addressOf(id, code.slice(0, -1)),
    "a null character": addressOf(id, `${code}%00`),
    "a long code": addressOf(id, "x".repeat(5_000)),
    "an unknown id": addressOf(randomUUID(), code),
    "the code of another": addressOf((await upload(Buffer.from("x"), "text/plain")).split("/").at(-2)!, code),
    "a malformed id": addressOf("1", code),
    "an id in braces": addressOf(`{${id}}`, code),
    "an injection": addressOf("'%20or%201=1", "'%20or%201=1"),
    "a global id": addressOf(encodeURIComponent(invoice.id), code),
    "an upload that has no file": await upload(null, null),
    "no such place at all": "/api/_action/document",
  };
  const answers = await Promise.all(
    Object.values(wrong).map(async (path) => {
      const { status, text, headers } = await read(await get(path, { headers: { "x-request-id": "same" } }));
      return {
        status,
        text,
        headers: [...headers].filter(([name]) => !/^(date|connection|keep-alive)$/.test(name)),
      };
    }),
  );
  assert.equal(answers[0]!.status, 404);
  for (const [i, what] of Object.keys(wrong).entries()) assert.deepEqual(answers[i], answers[0], what);
});

test("an uploaded file comes byte for byte", async () => {
  const file = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 256));
  for (const type of ["application/pdf", "image/png", "text/plain; charset=utf-8"]) {
    const response = await get(await upload(file, type, `Beleg „${type.length}“ *é.1`));
    assert.equal(response.headers.get("content-type"), type);
    assert.match(
      response.headers.get("content-disposition")!,
      /^inline; filename="Beleg __?\d+_ _e_?\.1\.\w+"; filename\*=UTF-8''Beleg%20%E2%80%9E\d+%E2%80%9C%20%2A%C3%A9\.1\.\w+$/,
    );
    assert.ok(file.equals(await response.bytes()));
  }
  const { rows } = await service.owner.query(
    "select download_url, content from api_unstable.documents join erp.document using (id) where erp.document.static and content is not null limit 1",
  );
  assert.ok(rows[0].content.equals(await (await get(rows[0].download_url)).bytes()));
});

test("the XML of an invoice is sent by its format, and is in the PDF of a ZUGFeRD invoice only", async () => {
  const { rows } = await service.owner.query(
    `select distinct on (d.config ->> 'form', d.config ->> 'typeCode') v.download_url as url, v.document_number as number,
       d.config ->> 'form' as form, f.content
     from erp.document d join api_unstable.documents v on v.id = d.id
     join erp.document_file f on f.document_id = d.id and f.format = 'xml'
     order by d.config ->> 'form', d.config ->> 'typeCode', d.id`,
  );
  assert.ok(rows.length > 3, `${rows.length} kinds`);
  assert.deepEqual([...new Set(rows.map(({ form }) => form))], ["xrechnung", "zugferd"]);
  for (const { url, number, form, content } of rows) {
    const xml = await get(`${url}?format=xml`);
    assert.deepEqual([xml.status, xml.headers.get("content-type")], [200, "application/xml"]);
    assert.match(xml.headers.get("content-disposition")!, /^attachment; /);
    assert.ok(xml.headers.get("content-disposition")!.includes(`"${number}.xml"`));
    assert.equal(xml.headers.get("cache-control"), "private, no-store");
    assert.ok(content.equals(await xml.bytes()));
    const { files, metadata } = await readPdf(await (await get(url)).bytes());
    assert.equal(metadata.get("pdfaid:part"), form === "zugferd" ? "3" : undefined);
    assert.deepEqual([...files.keys()], form === "zugferd" ? ["factur-x.xml"] : []);
    for (const file of files.values()) assert.ok(content.equals(file));
  }
  const [{ url }] = rows;
  const wrong = url.replace(/.$/, (last: string) => (last === "0" ? "1" : "0"));
  const unknown = await read(await get(`${wrong}?format=xml`, { headers: { "x-request-id": "same" } }));
  for (const path of [
    `${url}?format=docx`,
    `${url}?format=pdf&format=xml`,
    `${invoice.downloadUrl}?format=xml`,
  ]) {
    const { status, text } = await read(await get(path, { headers: { "x-request-id": "same" } }));
    assert.deepEqual([status, text], [404, unknown.text], path);
  }
});

test("a large file is read in parts, which are the same together", async () => {
  const file = randomBytes(40_000_001);
  const response = await get(await upload(file, "application/pdf"));
  assert.equal(response.headers.get("content-length"), "40000001");
  assert.ok(file.equals(await response.bytes()));
});

test("what a browser might run is only ever saved", async () => {
  const file = Buffer.from("<script>alert(1)</script>");
  for (const type of [
    "text/html",
    "TEXT/HTML; charset=utf-8",
    "image/svg+xml",
    "application/xml",
    "application/xhtml+xml",
    "text/javascript",
    "multipart/related; boundary=x",
    "nonsense",
    "text/plain\r\nx-injected: 1",
  ]) {
    const response = await get(await upload(file, type));
    assert.equal(response.status, 200, type);
    assert.match(response.headers.get("content-disposition")!, /^attachment; /, type);
    assert.match(response.headers.get("content-security-policy")!, /^sandbox;/);
    assert.equal(response.headers.get("x-content-type-options"), "nosniff");
    assert.equal(response.headers.get("x-injected"), null);
    assert.ok(file.equals(await response.bytes()));
  }
  const unknown = await get(await upload(file, "nonsense"));
  assert.equal(unknown.headers.get("content-type"), "application/octet-stream");
});

test("HEAD answers the headers of GET", async () => {
  const named = ({ headers }: Response) =>
    [...headers].filter(([name]) => !/^(date|x-request-id|connection|keep-alive)$/.test(name));
  const whole = await get(invoice.downloadUrl);
  const head = await get(invoice.downloadUrl, { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.deepEqual(named(head), named(whole));
  assert.equal(Number(head.headers.get("content-length")), (await whole.bytes()).length);
  assert.equal((await head.bytes()).length, 0);
  assert.equal((await get(addressOf(randomUUID(), "x"), { method: "HEAD" })).status, 404);
});

test("documents can only be read", async () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
    const { status, headers, codes } = await read(await get(invoice.downloadUrl, { method }));
    assert.deepEqual([status, headers.get("allow"), codes], [405, "GET, HEAD", ["BAD_USER_INPUT"]], method);
  }
});

test("a document that can't be rendered is a masked error, whose cause is in the log", async () => {
  const code = randomUUID();
  const { rows } = await service.owner.query(
    `insert into erp.document (document_type_id, order_id, deep_link_code, config)
     select document_type_id, order_id, $1, '{"documentType": "secret"}' from erp.document limit 1 returning id`,
    [code],
  );
  const { status, codes, text, headers } = await read(
    await get(addressOf(rows[0].id, code), { headers: { "x-request-id": "broken-1" } }),
  );
  assert.deepEqual([status, codes], [500, ["INTERNAL_SERVER_ERROR"]]);
  assert.equal(headers.get("x-request-id"), "broken-1");
  assert.doesNotMatch(text, /documentType|secret/);
  const entry = service.log.find(({ requestId, level }) => requestId === "broken-1" && level === 50);
  assert.match(JSON.stringify(entry), /documentType/);
  assert.equal((await get(invoice.downloadUrl)).status, 200, "the next one is rendered");
});

test("while the database is away the answer is 503, and then the document again", async () => {
  const proxy = await openCuttableProxy(service.loginUrl);
  const process = await service.another({ loginUrl: proxy.url });
  try {
    const statusNow = async () => read(await fetch(process.url + invoice.downloadUrl));
    assert.equal((await statusNow()).status, 200);
    proxy.cut();
    const { status, codes, body } = await statusNow();
    assert.deepEqual([status, codes], [503, ["SERVICE_UNAVAILABLE"]]);
    assert.equal(body.errors[0].extensions.retryable, true);
    proxy.restore();
    await until(async () => (await statusNow()).status === 200);
  } finally {
    await process.close();
    await proxy.close();
  }
});

test("the code of a document gets into no log", async () => {
  const lines: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const process = await service.another({ logger });
  for (const method of ["GET", "POST"]) await fetch(process.url + invoice.downloadUrl, { method });
  await until(() => lines.length >= 2);
  assert.ok(lines[0]!.includes(`/api/_action/document/${bare(invoice.id)}/`), lines[0]);
  assert.ok(!lines.join("").includes(invoice.deepLinkCode), lines.join(""));
});
