import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { addChannel } from "../bulk/support.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

// Pages of texts of a megabyte would take everybody's time and memory.
let shop: ShippingShop;
let configuration: string;
before(async () => {
  shop = await openShippingShop();
  await addChannel(shop);
  await shop.sql(`insert into erp.customer (customer_number, email, first_name, last_name, group_id, sales_channel_id)
    select 'C-1', 'a@example.org', 'A', 'B', customer_group_id, id from erp.sales_channel`);
  const { productSupplierConfiguration } = await shop.mutate(
    "productSupplierConfigurationCreate",
    { supplierId: shop.id.forge, productId: shop.id.hammer },
    { select: "productSupplierConfiguration { id }" },
  );
  configuration = productSupplierConfiguration.id;
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

let numbers = 0;
const next = () => `T-${(numbers += 1)}`;
const results = "results { outcome userErrors { code field } }";
const order = (rest: object) => ({
  orders: [{ orderNumber: next(), currencyId: shop.id.EUR, ...rest }],
});
const orderLine = (rest: object) =>
  order({ lineItems: [{ productId: shop.id.hammer, quantity: 1, unitPrice: 1, ...rest }] });
const customer = (rest: object) => ({ customers: [{ customerNumber: "C-1", ...rest }] });
const supplier = (rest: object) => ({ suppliers: [{ number: next(), name: "S", ...rest }] });
const product = (rest: object) => ({ products: [{ productNumber: next(), ...rest }] });
const batch = (rest: object) => ({ batches: [{ productNumber: "glue", number: next(), ...rest }] });
const supplierOrder = (rest: object) => ({ supplierId: shop.id.acme, ...rest });
const street = (text: string) => ({ street: text });

/** Inputs with a text: the most characters that it may have, and the field that an error names. */
const inputs: [name: string, field: string, most: number, input: (text: string) => object][] = [
  ["customersUpsert", "customers.0.title", 255, (title) => customer({ title })],
  ["customersUpsert", "customers.0.firstName", 255, (firstName) => customer({ firstName })],
  ["customersUpsert", "customers.0.vatIds", 4996, (text) => customer({ vatIds: [text] })],
  ["customersUpsert", "customers.0.buyerReference", 255, (text) => customer({ buyerReference: text })],
  ["customersUpsert", "customers.0.registrationId", 255, (text) => customer({ registrationId: text })],
  [
    "customersUpsert",
    "customers.0.electronicAddress",
    255,
    (electronicAddress) => customer({ electronicAddress, electronicAddressScheme: "EM" }),
  ],
  ["suppliersUpsert", "suppliers.0.phone", 255, (phone) => supplier({ phone })],
  ["suppliersUpsert", "suppliers.0.vatId", 255, (vatId) => supplier({ vatId })],
  ["suppliersUpsert", "suppliers.0.email", 255, (email) => supplier({ email })],
  ["suppliersUpsert", "suppliers.0.customerNumber", 255, (customerNumber) => supplier({ customerNumber })],
  ["suppliersUpsert", "suppliers.0.address", 9986, (text) => supplier({ address: street(text) })],
  [
    "warehousesUpsert",
    "warehouses.0.address",
    9986,
    (text) => ({ warehouses: [{ code: next(), name: "W", address: street(text) }] }),
  ],
  ["batchesUpsert", "batches.0.number", 255, (number) => batch({ number })],
  ["batchesUpsert", "batches.0.comment", 10_000, (comment) => batch({ comment })],
  ["batchesUpsert", "batches.0.supplierLot", 255, (supplierLot) => batch({ supplierLot })],
  ["batchUpdate", "number", 255, (number) => ({ id: shop.id.N1, number })],
  ["batchUpdate", "comment", 10_000, (comment) => ({ id: shop.id.G1, comment })],
  ["batchUpdate", "supplierLot", 255, (supplierLot) => ({ id: shop.id.G1, supplierLot })],
  ["warehouseCreate", "address", 9986, (text) => ({ code: next(), name: "W", address: street(text) })],
  ["productsUpsert", "products.0.description", 65_535, (description) => product({ description })],
  [
    "productsUpsert",
    "products.0.translations.0.description",
    65_535,
    (description) => product({ translations: [{ locale: "de", description }] }),
  ],
  [
    "productsUpsert",
    "products.0.storefrontVariants",
    99_963,
    (productId) => product({ storefrontVariants: [{ productId, variantId: "v" }] }),
  ],
  ["ordersUpsert", "orders.0.shippingAddress", 9986, (text) => order({ shippingAddress: street(text) })],
  ["ordersUpsert", "orders.0.billingAddress", 9986, (text) => order({ billingAddress: street(text) })],
  ["ordersUpsert", "orders.0.buyerReference", 255, (buyerReference) => order({ buyerReference })],
  ["ordersUpsert", "orders.0.purchaseOrderNumber", 255, (text) => order({ purchaseOrderNumber: text })],
  [
    "ordersUpsert",
    "orders.0.exchangeRateSource",
    255,
    (text) => order({ exchangeRate: 1, exchangeRateDate: "2026-11-27", exchangeRateSource: text }),
  ],
  ["ordersUpsert", "orders.0.lineItems.0.discountReason", 255, (text) => orderLine({ discountReason: text })],
  ["ordersUpsert", "orders.0.lineItems.0.label", 1000, (label) => orderLine({ label })],
  ["ordersUpsert", "orders.0.lineItems.0.description", 10_000, (description) => orderLine({ description })],
  [
    "ordersUpsert",
    "orders.0.lineItems.0.storefrontId",
    255,
    (storefrontId) => orderLine({ storefrontId, identifier: "I" }),
  ],
  [
    "ordersUpsert",
    "orders.0.lineItems.0.type",
    255,
    (type) => orderLine({ productId: null, label: "L", type }),
  ],
  ["goodsReceiptCreate", "comment", 10_000, (comment) => ({ currencyId: shop.id.USD, comment })],
  ["supplierOrderCreate", "comment", 10_000, (comment) => supplierOrder({ comment })],
  ["supplierOrderCreate", "supplierOrderNumber", 255, (text) => supplierOrder({ supplierOrderNumber: text })],
  [
    "productSupplierConfigurationUpdate",
    "supplierProductNumber",
    255,
    (supplierProductNumber) => ({ id: configuration, supplierProductNumber }),
  ],
];

const refused = async (name: string, input: object) =>
  refusals(await shop.mutate(name, input, { select: name.endsWith("Upsert") ? results : "" }));

describe("a text", () => {
  for (const [name, field, most, input] of inputs)
    it(`of ${name} has ${most} characters at most: ${field}`, async () => {
      assert.deepEqual(await refused(name, input("é".repeat(most))), []);
      for (const length of [most + 1, 400_000])
        assert.deepEqual(
          await refused(name, input("é".repeat(length))),
          [["OUT_OF_RANGE", field]],
          String(length),
        );
    });

  it("is bounded by hand, too, also where the rule is upheld by a trigger", async () => {
    for (const table of ["erp.product", "erp.sales_order_line_item"])
      await assert.rejects(shop.sql(`update ${table} set description = repeat('x', 70000)`), {
        code: "23514",
      });
  });
});
