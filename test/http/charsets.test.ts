import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { csrfTokenIn, loggedIn } from "../administration/browser.ts";
import { read } from "../lib/service.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";

let shop: ShippingShop;
let token: string;
before(async () => {
  shop = await openShippingShop();
  token = await shop.token({ read: "all", write: "all" });
});
after(() => shop.close());

const send = async (body: Buffer, headers: Record<string, string> = {}) =>
  read(
    await fetch(`${shop.url}/api/graphql/unstable`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}`, ...headers },
      body: body as BodyInit,
    }),
  );
const mutation = `mutation ($name: String!) { productsUpsert(input: { products: [{ productNumber: "bear", name: $name }] }) {
  products { name } userErrors { message } } }`;
const request = (name: string) => JSON.stringify({ query: mutation, variables: { name } });
const names = async () => shop.sql("select name from erp.product where product_number = 'bear'");
const typed = (charset: string) => ({ "content-type": `application/json; charset=${charset}` });

describe("the body of a request", () => {
  it("is refused as a whole when its bytes aren't of its charset", async () => {
    const damaged = Buffer.from(request("Bär"), "latin1");
    const message = "The body is not valid UTF-8. Name another charset in its Content-Type, or send UTF-8.";
    for (const [body, headers] of [
      [damaged, {}],
      [damaged, typed("utf-8")],
      [gzipSync(damaged), { "content-encoding": "gzip" }],
      [Buffer.from(request("B\ud800r").replace("\\ud800", "\0"), "latin1").map((b) => b || 0xed), {}],
    ] as const) {
      const answer = await send(Buffer.from(body), headers);
      assert.deepEqual([answer.status, answer.codes], [400, ["BAD_USER_INPUT"]], answer.text);
      assert.equal(answer.body.errors[0].message, message);
    }
    const odd = await send(Buffer.from(`${request("Bär")}`, "utf16le").subarray(1), typed("utf-16le"));
    assert.deepEqual([odd.status, odd.codes], [400, ["BAD_USER_INPUT"]], odd.text);
    assert.deepEqual(await names(), []);
  });

  it("is read in each charset that is known, and with a byte order mark", async () => {
    const text = request("Bär “€”");
    const cp1252 = Buffer.from(
      text.replaceAll("“", "\x93").replaceAll("”", "\x94").replaceAll("€", "\x80"),
      "latin1",
    );
    const big = Buffer.from(`\uFEFF${text}`, "utf16le").swap16();
    for (const [body, headers] of [
      [cp1252, typed("windows-1252")],
      [cp1252, typed('"ISO-8859-1"')],
      [gzipSync(cp1252), { ...typed("latin1"), "content-encoding": "gzip" }],
      [Buffer.from(text, "utf16le"), typed("utf-16le")],
      [Buffer.from(`\uFEFF${text}`, "utf16le"), {}],
      [big, typed("utf-16")],
      [Buffer.from(`\uFEFF${text}`), {}],
      [Buffer.from(`\uFEFF${text}`), { ...typed("utf8") }],
    ] as const) {
      const answer = await send(Buffer.from(body), headers);
      const what = `${JSON.stringify(headers)} ${answer.text}`;
      assert.equal(answer.body.data?.productsUpsert.products[0]?.name, "Bär “€”", what);
      await shop.sql("delete from erp.product where product_number = 'bear'");
    }
  });

  it("is refused when its charset isn't known", async () => {
    for (const charset of ["utf-7", "utf-32", "ebcdic", "klingon"]) {
      const answer = await send(Buffer.from(request("Bear")), typed(charset));
      assert.deepEqual([answer.status, answer.codes], [415, ["BAD_USER_INPUT"]], answer.text);
      assert.equal(answer.body.errors[0].message, `The charset “${charset}” is not known here. Send UTF-8.`);
    }
  });

  it("holds no half of a character, which no charset has", async () => {
    for (const body of [
      request("B\ud800r"),
      JSON.stringify({ query: mutation.replace("$name }", '"B\\ud800r" }') }),
    ]) {
      const answer = await send(Buffer.from(body));
      assert.ok(!answer.text.includes("INTERNAL"), answer.text);
      assert.equal(answer.body.errors?.[0].extensions.retryable, false, answer.text);
    }
  });
});

describe("other texts of requests", () => {
  it("in an address are refused when they are no UTF-8", async () => {
    const query = "query($n:String){products(filter:{productNumber:{equals:$n}}){totalCount{count}}}";
    const ask = async (name: string) =>
      read(
        await fetch(
          `${shop.url}/api/graphql/unstable?query=${encodeURIComponent(query)}&variables={"n":"${name}"}`,
          { headers: { authorization: `Bearer ${token}` } },
        ),
      );
    const refused = await ask("B%E4r");
    assert.deepEqual([refused.status, refused.codes], [400, ["BAD_USER_INPUT"]], refused.text);
    assert.match(refused.body.errors[0].message, /UTF-8/);
    for (const name of ["B%C3%A4r", "%EF%BF%BD", "100%"])
      assert.equal((await ask(name)).body.data?.products.totalCount.count, 0, name);
  });

  it("at the token endpoint are refused when they are no UTF-8", async () => {
    const form = (value: string) => `grant_type=client_credentials&client_id=${value}&client_secret=x`;
    const json = JSON.stringify({ grant_type: "client_credentials", client_id: "Bär", client_secret: "x" });
    for (const [type, body, status] of [
      ["application/x-www-form-urlencoded", Buffer.from(form("Bär"), "latin1"), 400],
      ["application/x-www-form-urlencoded", Buffer.from(form("B%E4r")), 400],
      ["application/x-www-form-urlencoded", Buffer.from(form("B%C3%A4r")), 401],
      ["application/json", Buffer.from(json, "latin1"), 400],
      ["application/json", Buffer.from(json), 401],
    ] as const) {
      const answer = await read(
        await fetch(`${shop.url}/api/oauth/token`, {
          method: "POST",
          headers: { "content-type": type },
          body: body as BodyInit,
        }),
      );
      assert.equal(answer.status, status, `${type} ${body.toString("latin1")} ${answer.text}`);
    }
  });

  it("in forms of the administration are refused when they are no UTF-8", async () => {
    const visitor = await loggedIn(shop);
    const token = csrfTokenIn((await visitor.get("/admin/tokens/new")).html);
    const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const post = (body: string) =>
      fetch(`${shop.url}/admin/tokens/new`, {
        method: "POST",
        headers: {
          ...{
            cookie,
            "content-type": "application/x-www-form-urlencoded",
            origin: new URL(shop.url).origin,
          },
          "sec-fetch-site": "same-origin",
        },
        body: Buffer.from(`_csrf=${token}&name=${body}`, "latin1") as BodyInit,
        redirect: "manual",
      });
    for (const name of ["B\xe4r", "B%E4r"]) assert.equal((await post(name)).status, 400, name);
    assert.deepEqual(await shop.sql("select from auth.credential where name like 'B%r'"), []);
  });
});
