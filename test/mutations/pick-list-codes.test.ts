import assert from "node:assert/strict";
import { after, before, beforeEach, it } from "node:test";
import { missingId } from "../lib/ids.ts";
import { pickingIn } from "../lib/picking.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

const gtin = "4006381333931";
const gtin14 = "04006381333931";
const caseOf12 = "14006381333938";

let shop: ShippingShop;
let picking: ReturnType<typeof pickingIn>;
before(async () => {
  shop = await openShippingShop();
  picking = pickingIn(shop);
  await shop.owner.query(
    `update erp.product set gtin = '${gtin}' where product_number = 'glue';
     update erp.batch set best_before_date = '2040-12-31' where number = 'G1'`,
  );
});
after(() => shop.close());
beforeEach(() => picking.clear());

const setGtins = (product: string, ...gtins: object[]) =>
  shop.mutate(
    "productGtinsSet",
    { productId: shop.id[product], gtins },
    { select: "product { gtins { edges { node { gtin quantity } } } }" },
  );
const confirm = (id: string, code: string, rest: object = {}) =>
  picking.call("pickListLineConfirm", { id, code, ...rest });

it("counts the units that a GTIN stands for", async () => {
  const { product } = await setGtins("nail", { gtin: caseOf12, quantity: 12 }, { gtin: "96385074" });
  assert.deepEqual(
    product.gtins.edges.map(({ node }: any) => node),
    [
      { gtin: caseOf12, quantity: 12 },
      { gtin: "00000096385074", quantity: 1 },
    ],
  );
  await shop.store("nail", "A-1", 100);
  const list = await picking.begin([await picking.order(["nail", 40])]);
  const { id } = list.lines[0];
  const picked = async (code: string, rest?: object) =>
    (await confirm(id, code, rest)).pickListLine.pickedQuantity;
  assert.equal(await picked(caseOf12), 12);
  assert.equal(await picked("96385074"), 13);
  // Content of a pallet: two cases
  assert.equal(await picked(`02${caseOf12}372`), 37);
  const over = await confirm(id, caseOf12);
  assert.deepEqual(refusals(over), [["OVER_FULFILLMENT", "code"]]);
  assert.deepEqual(over.userErrors[0].details, { open: 3, requested: 12 });
  assert.equal(await picked("nail", { quantity: 3 }), 40);
  assert.deepEqual(refusals(await confirm(id, "nail")), [["INVALID_STATE_TRANSITION", "id"]]);
  await assertLedgerIsRight(shop);
});

it("takes the batch and the date of the code", async () => {
  await shop.store("glue", "A-1", 9, "G1");
  const list = await picking.begin([await picking.order(["glue", 4])]);
  const { id } = list.lines[0];
  const wrong = await confirm(id, `01${gtin14}10G2`);
  assert.deepEqual(refusals(wrong), [["BATCH_MISMATCH", "code"]]);
  assert.deepEqual(wrong.userErrors[0].details, { expected: "G1", bestBefore: "2040-12-31" });
  assert.deepEqual(refusals(await confirm(id, `01${gtin14}1540123010G1`)), [["BATCH_MISMATCH", "code"]]);
  const codes = [
    `01${gtin14}1540123110G1`,
    `]d2\u001d01${gtin14}10G1\u001d15401231`,
    `https://id.gs1.org/01/${gtin14}/10/G1`,
    gtin,
  ];
  for (const [index, code] of codes.entries())
    assert.equal((await confirm(id, code)).pickListLine?.pickedQuantity, index + 1, code);
  await assertLedgerIsRight(shop);
});

it("takes the serial number of a unit", async () => {
  await shop.owner.query(
    `insert into erp.product (product_number, gtin, is_batch_managed, has_serial_numbers) values ('drill', '36000291452', true, true) on conflict do nothing;
     insert into erp.batch (product_id, number) select id, 'S-1' from erp.product where product_number = 'drill'`,
  );
  await shop.owner.query("update erp.product set gtin = '036000291452' where product_number = 'drill'");
  for (const [name, type, table, column] of [
    ["drill", "Product", "product", "product_number"],
    ["S-1", "Batch", "batch", "number"],
  ]) {
    const [row] = await shop.sql(`select id from erp.${table} where ${column} = '${name}'`);
    shop.id[name!] = `gid://service/${type}/${row.id}`;
  }
  await shop.store("drill", "A-1", 1, "S-1");
  const list = await picking.begin([await picking.order(["drill", 1])]);
  const { id } = list.lines[0];
  assert.deepEqual(refusals(await confirm(id, "010003600029145221S-2")), [["BATCH_MISMATCH", "code"]]);
  const done = await confirm(id, "010003600029145221S-1");
  assert.equal(done.pickListLine.state, "picked");
});

it("refuses other products and containers, and says what is expected", async () => {
  await setGtins("nail", { gtin: caseOf12, quantity: 12 });
  await shop.store("hammer", "A-1", 9);
  const [cart] = await picking.containers("CART-1");
  await shop.sql("update erp.stock_container set sscc = '106141411234567897' where id = $1", cart!);
  const list = await picking.begin([await picking.order(["hammer", 5])], {
    lists: [{ stockContainerIds: [cart] }],
  });
  const { id } = list.lines[0];
  const refused = async (code: string, rest?: object) => {
    const payload = await confirm(id, code, rest);
    return [...refusals(payload)[0]!, payload.userErrors[0].details?.expected];
  };
  assert.deepEqual(await refused(caseOf12), ["WRONG_PRODUCT", "code", "hammer"]);
  assert.deepEqual(await refused("nail"), ["WRONG_PRODUCT", "code", "hammer"]);
  assert.deepEqual(await refused("4006381333932"), ["UNKNOWN_CODE", "code", "hammer"]);
  assert.deepEqual(await refused("(99)x"), ["UNKNOWN_CODE", "code", "hammer"]);
  assert.deepEqual(await refused(""), ["UNKNOWN_CODE", "code", "hammer"]);
  assert.deepEqual(await refused("hammer", { containerCode: "CART-2" }), [
    "WRONG_CONTAINER",
    "containerCode",
    "CART-1",
  ]);
  assert.deepEqual(await refused("hammer", { containerCode: "00340123450000000017" }), [
    "WRONG_CONTAINER",
    "containerCode",
    "CART-1",
  ]);
  assert.deepEqual(await refused("hammer", { quantity: 0 }), ["OUT_OF_RANGE", "quantity", undefined]);
  for (const containerCode of ["CART-1", "00106141411234567897", null])
    assert.deepEqual((await confirm(id, "hammer", { containerCode })).userErrors, []);
  assert.equal(await picking.inContainer("hammer", cart!), 3);
  assert.deepEqual(refusals(await confirm(missingId("PickListLine"), "hammer")), [["NOT_FOUND", "id"]]);
  const { body } = await shop.tryMutate("pickListLineConfirm", { id, code: null });
  assert.equal(body.errors[0].extensions.code, "BAD_USER_INPUT");
});

it("refuses GTINs that are wrong, or belong to another product", async () => {
  const free = "9780201379624";
  assert.deepEqual((await setGtins("nail", { gtin: "96385074" })).userErrors, []);
  const payload = await setGtins(
    "hammer",
    { gtin: "96385075" },
    { gtin: "96385074" },
    // The own one of glue
    { gtin: gtin14 },
    { gtin: free },
    { gtin: `0${free}` },
  );
  assert.deepEqual(refusals(payload), [
    ["INVALID", "gtins.0.gtin"],
    ["NOT_UNIQUE", "gtins.1.gtin"],
    ["NOT_UNIQUE", "gtins.2.gtin"],
    ["NOT_UNIQUE", "gtins.4.gtin"],
  ]);
  assert.deepEqual(refusals(await setGtins("hammer", { gtin: free, quantity: 0 })), [
    ["OUT_OF_RANGE", "quantity"],
  ]);
  const many = Array.from({ length: 51 }, () => ({ gtin: free }));
  assert.deepEqual(refusals(await setGtins("hammer", ...many)), [["TOO_MANY_LINES", "gtins"]]);
  const { userErrors } = await shop.mutate("productGtinsSet", { productId: missingId("Product"), gtins: [] });
  assert.equal(userErrors[0].code, "NOT_FOUND");
  // The list replaces the one before
  const { product } = await setGtins("nail", { gtin: "96385074", quantity: 3 });
  assert.deepEqual(product.gtins.edges, [{ node: { gtin: "00000096385074", quantity: 3 } }]);
  assert.deepEqual((await setGtins("nail")).product.gtins.edges, []);
});
