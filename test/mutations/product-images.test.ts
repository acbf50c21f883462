import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { endOfLog, logAfter, sequence } from "../events/support.ts";
import type { Shop } from "../lib/shop.ts";
import { openShop, refusals } from "../lib/shop.ts";

let shop: Shop;
before(async () => {
  shop = await openShop();
});
after(() => shop.close());

const image = "position url altText translations { locale altText }";
const select = `results { outcome userErrors { code field } }
  products { id translations { locale name description } images { edges { node { id ${image} } } } }`;
const upsert = (rows: object[], options = {}): Promise<any> =>
  shop.mutate("productsUpsert", { products: rows }, { select, ...options });
const outcomes = ({ results }: any) => results.map(({ outcome }: any) => outcome).join(" ");
const imagesOf = ({ products: [product] }: any) => product.images.edges.map(({ node }: any) => node);
const urlsOf = (answer: any) => imagesOf(answer).map(({ url }: any) => url.replace(/.*\//, ""));
const at = (name: string) => ({ url: `https://cdn.example.com/${name}` });

describe("images of products", () => {
  const front = {
    ...at("front.jpg"),
    altText: "The front",
    translations: [
      { locale: "de", altText: "Von vorn" },
      { locale: "fr", altText: null },
    ],
  };

  it("come in their order, with texts in other languages", async () => {
    const answer = await upsert([{ productNumber: "tent", images: [front, at("back.jpg")] }]);
    assert.equal(outcomes(answer), "CREATED");
    const [one, two] = imagesOf(answer);
    const { id, ...shown } = one;
    assert.deepEqual(shown, {
      position: 1,
      url: front.url,
      altText: "The front",
      translations: [{ locale: "de", altText: "Von vorn" }],
    });
    assert.deepEqual([two.position, two.altText, two.translations], [2, null, []]);
    assert.equal(id, `${answer.products[0].id.replace("Product", "ProductImage")}/1`);
    const { node } = await read(`query ($id: ID!) { node(id: $id) { ... on ProductImage { ${image} } } }`, {
      id,
    });
    assert.deepEqual(node, shown);
  });

  it("stay when they are left out, change places, and go", async () => {
    const set = (images?: object[] | null) =>
      upsert([{ productNumber: "bag", ...(images !== undefined && { images }) }]);
    const [a, b, c] = [at("a"), at("b"), at("c")] as const;
    await set([a, b, c]);
    for (const [images, outcome, urls] of [
      [[a, b, c], "UNCHANGED", "abc"],
      [undefined, "UNCHANGED", "abc"],
      [[c, a, b], "UPDATED", "cab"],
      [[c, { ...a, altText: "A" }, b], "UPDATED", "cab"],
      [[b], "UPDATED", "b"],
      [[], "UPDATED", ""],
      [null, "UNCHANGED", ""],
    ] as const) {
      const answer = await set(images as object[] | null | undefined);
      assert.deepEqual([outcomes(answer), urlsOf(answer).join("")], [outcome, urls], JSON.stringify(images));
      assert.deepEqual(
        imagesOf(answer).map(({ position }: any) => position),
        [...urls].map((_, index) => index + 1),
      );
    }
  });

  it("are listed page by page, by one statement, and found by their address", async () => {
    const names = Array.from({ length: 12 }, (_, n) => `many-${String(n).padStart(2, "0")}`);
    // In another order than that of the addresses
    const wanted = names.toReversed();
    await upsert([{ productNumber: "many", images: wanted.map(at) }, { productNumber: "none" }]);
    const query = `query ($first: Int!, $after: String) {
      products(filter: { productNumber: { equals: "many" } }) { edges { node {
        images(first: $first, after: $after) { edges { node { url } } pageInfo { hasNextPage endCursor } } } } } }`;
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const { body, headers } = await shop.ask(await reader(), { query, variables: { first: 5, after } });
      assert.equal(headers.get("x-read-by"), "sql");
      const page = body.data.products.edges[0].node.images;
      seen.push(...page.edges.map(({ node }: any) => node.url.replace(/.*\//, "")));
      [after, more] = [page.pageInfo.endCursor, page.pageInfo.hasNextPage];
    }
    assert.deepEqual(seen, wanted);
    const found = await read(
      `query ($url: String!) {
        productImages(filter: { url: { equals: $url } }) { edges { node { position product { productNumber } } } }
        without: products(filter: { productNumber: { in: ["many", "none"] }, images: { none: {} } }) {
          edges { node { productNumber } } } }`,
      at("many-11"),
    );
    assert.deepEqual(found, {
      productImages: { edges: [{ node: { position: 1, product: { productNumber: "many" } } }] },
      without: { edges: [{ node: { productNumber: "none" } }] },
    });
    const stranger = await shop.token({ read: ["orders"] });
    const refused = await shop.ask(stranger, { query: "{ productImages { edges { node { url } } } }" });
    assert.deepEqual(refused.codes, ["FORBIDDEN"]);
    const { rows } = await shop.owner
      .query(
        `begin; set local role service_api; set local service.scopes = 'orders:read';
       select count(*)::int as count from erp.product_image`,
      )
      .then((results: any) => results.at(-1));
    await shop.owner.query("rollback");
    assert.deepEqual(rows, [{ count: 0 }]);
  });

  it("cost as other lists do", async () => {
    const cost = async (lists: string) =>
      (await shop.ask(await reader(), { query: `{ products(first: 10) { edges { node { ${lists} } } } }` }))
        .body.extensions.cost.requestedQueryCost;
    assert.equal(
      await cost("images(first: 20) { edges { node { url } } }"),
      await cost("batches(first: 20) { edges { node { number } } }"),
    );
  });
});

describe("translations of products", () => {
  const row = {
    productNumber: "lamp",
    name: "Lamp",
    translations: [
      { locale: "fr-CA", name: "Lampe", description: "Éclaire loin." },
      { locale: "de-DE", name: "Leuchte" },
    ],
  };

  it("take the place of present ones, and leave the name as it is", async () => {
    const made = await upsert([row]);
    const { translations } = made.products[0];
    assert.deepEqual(translations, [
      { locale: "de-DE", name: "Leuchte", description: null },
      { locale: "fr-CA", name: "Lampe", description: "Éclaire loin." },
    ]);
    assert.equal(outcomes(made), "CREATED");
    for (const [change, outcome, count] of [
      [{ translations: row.translations.toReversed() }, "UNCHANGED", 2],
      [{}, "UNCHANGED", 2],
      [{ translations: row.translations.slice(1) }, "UPDATED", 1],
      [{ translations: [...row.translations.slice(1), { locale: "it" }] }, "UNCHANGED", 1],
      [{ translations: [] }, "UPDATED", 0],
      [{ translations: null }, "UNCHANGED", 0],
    ] as const) {
      const answer = await upsert([{ productNumber: "lamp", ...change }]);
      assert.deepEqual([outcomes(answer), answer.products[0].translations.length], [outcome, count]);
    }
    const { products } = await read(
      `{ products(filter: { productNumber: { equals: "lamp" } }) { edges { node { name } } } }`,
    );
    assert.equal(products.edges[0].node.name, "Lamp");
  });

  it("and images are told of with other changes of the product, once", async () => {
    const events = async (change: object) => {
      await sequence(shop.owner);
      const end = await endOfLog(shop.owner);
      assert.equal(outcomes(await upsert([{ productNumber: "lamp", ...change }])), "UPDATED");
      await sequence(shop.owner);
      return (await logAfter(shop.owner, end)).map(({ topic, changed_fields: fields }) => [topic, fields]);
    };
    const { translations } = row;
    assert.deepEqual(await events({ name: "New lamp", translations, images: [at("x"), at("y")] }), [
      ["product.updated", ["name"]],
    ]);
    assert.deepEqual(await events({ translations: [], images: [at("y")] }), []);
  });
});

const reader = () => shop.token({ read: ["products", "batches"] });
async function read(query: string, variables = {}): Promise<any> {
  const { body, text } = await shop.ask(await reader(), { query, variables });
  assert.equal(body.errors, undefined, text);
  return body.data;
}

describe("refusals of images and translations", () => {
  const long = (length: number) => "x".repeat(length);
  const mistakes: [row: object, code: string, field: string][] = [
    ...["ftp://a.example/x", "javascript:alert(1)", "/x.jpg", "https://", "https://me:pw@a.example/x", ""]
      .concat("https://a.example/x y", "https://a.example/ö", 'https://a.example/"', " https://a.example/")
      .map((url): [object, string, string] => [{ images: [{ url }] }, "INVALID", "images.0.url"]),
    [{ images: [at("a"), at(long(2048))] }, "OUT_OF_RANGE", "images.1.url"],
    [{ images: [at("a"), at("b"), at("a")] }, "NOT_UNIQUE", "images.2.url"],
    [{ images: [{ ...at("a"), altText: long(1001) }] }, "OUT_OF_RANGE", "images.0.altText"],
    [
      { images: [at("a"), { ...at("b"), translations: [{ locale: "de", altText: long(1001) }] }] },
      ...(["OUT_OF_RANGE", "images.1.translations.0.altText"] as const),
    ],
    [
      { images: [{ ...at("b"), translations: [{ locale: "German", altText: "x" }] }] },
      ...(["INVALID", "images.0.translations.0.locale"] as const),
    ],
    [
      { images: Array.from({ length: 251 }, (_, n) => at(`${n}`)) },
      ...(["TOO_MANY_LINES", "images.250.url"] as const),
    ],
    ...["de_DE", "DE", "", "deutsch", "de-de"].map((locale): [object, string, string] => [
      { translations: [{ locale, name: "x" }] },
      ...(["INVALID", "translations.0.locale"] as const),
    ]),
    [{ translations: [{ locale: "de" }, { locale: "de" }] }, "NOT_UNIQUE", "translations.1.locale"],
    [{ translations: [{ locale: "de", name: long(256) }] }, "OUT_OF_RANGE", "translations.0.name"],
    [
      { translations: Array.from({ length: 251 }, (_, n) => ({ locale: `de-${100 + n}`, name: "x" })) },
      ...(["TOO_MANY_LINES", "translations.250.locale"] as const),
    ],
  ];

  it("name the image or the language, and leave what is there", async () => {
    await upsert([{ productNumber: "kept", images: [at("kept")] }]);
    const answer = await upsert(
      [{ productNumber: "kept" }, ...mistakes.map(([row], n) => ({ productNumber: `bad-${n}`, ...row }))],
      { select: "results { outcome userErrors { code field } }" },
    );
    assert.deepEqual(
      refusals(answer),
      mistakes.map(([, code, field], n) => [code, `products.${n + 1}.${field}`]),
    );
    const tried = { products: [{ productNumber: "kept", images: [at("new")] }], validateOnly: true };
    assert.deepEqual((await shop.mutate("productsUpsert", tried)).userErrors, []);
    assert.deepEqual(urlsOf(await upsert([{ productNumber: "kept" }])), ["kept"]);
  });

  it("accept other spellings of addresses and languages", async () => {
    const urls = [
      ...["http://a.example", "HTTPS://A.example:8443/x?y=%20&z=[1]#top", "https://[2001:db8::1]/x"],
      ...["https://my_bucket.s3.example.com/a|b{c}~@2x.jpg", "https://xn--bcher-kva.example/?q"],
    ];
    const translations = ["de", "de-AT", "zh-Hant-TW", "es-419", "sr-Latn"].map((locale) => ({
      locale,
      name: "x",
    }));
    const answer = await upsert([
      { productNumber: "odd", images: urls.map((url) => ({ url })), translations },
    ]);
    assert.deepEqual(answer.userErrors, []);
    assert.deepEqual(
      imagesOf(answer).map(({ url }: any) => url),
      urls,
    );
  });
});
