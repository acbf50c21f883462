import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { assertLedgerIsRight, refusals } from "../lib/shop.ts";

let shop: ShippingShop;
before(async () => {
  shop = await openShippingShop();
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const results = "results { outcome userErrors { code field } }";
const price = (amount: number) => ({ currencyId: shop.id.EUR, net: amount, gross: amount });
let numbers = 0;
const next = () => `A-${(numbers += 1)}`;

/** Inputs with an amount, and the field that an error names. */
const inputs: [name: string, field: string, input: (amount: number) => object | Promise<object>][] = [
  [
    "productsUpsert",
    "products.0.price.0.net",
    (amount) => ({ products: [{ productNumber: next(), price: [price(amount)] }] }),
  ],
  [
    "productsUpsert",
    "products.0.purchasePrices.0.gross",
    (amount) => ({ products: [{ productNumber: next(), purchasePrices: [{ ...price(1), gross: amount }] }] }),
  ],
  [
    "suppliersUpsert",
    "suppliers.0.minimumOrderValue",
    (amount) => ({ suppliers: [{ number: next(), name: "S", minimumOrderValue: amount }] }),
  ],
  [
    "productSupplierConfigurationCreate",
    "purchasePrices.0.net",
    async (amount) => ({
      supplierId: shop.id.acme,
      productId: await productOf(next()),
      purchasePrices: [price(amount)],
    }),
  ],
  [
    "supplierOrderCreate",
    "lineItems.0.unitPrice",
    async (amount) => ({
      supplierId: shop.id.acme,
      lineItems: [{ productId: await productOf(next()), quantity: 2 ** 31 - 1, unitPrice: amount }],
    }),
  ],
  [
    "goodsReceiptCreate",
    "lineItems.0.unitPrice",
    (amount) => ({
      currencyId: shop.id.USD,
      lineItems: [{ productId: shop.id.hammer, quantity: 7, unitPrice: amount }],
    }),
  ],
];

const productOf = async (productNumber: string) => {
  const { products } = await shop.mutate(
    "productsUpsert",
    { products: [{ productNumber }] },
    { select: "products { id }" },
  );
  return products[0].id;
};

/** Refusals of the call, or of its rows. */
const refused = async (name: string, input: object) =>
  refusals(await shop.mutate(name, input, { select: name.endsWith("Upsert") ? results : "" }));

describe("an amount", () => {
  for (const [name, field, input] of inputs)
    it(`of ${name} has 15 digits before the point at most: ${field}`, async () => {
      for (const amount of [1e15, 1e20, 1e300, Number.MAX_VALUE]) {
        const found = await refused(name, await input(amount));
        // A list of prices names each that is too large
        assert.deepEqual([...new Set(found.map(String))], [`OUT_OF_RANGE,${field}`], String(amount));
      }
      for (const amount of [0, 0.1234567890123456, 1e-300, 999999999999999])
        assert.deepEqual(await refused(name, await input(amount)), [], String(amount));
    });

  it("of an order is refused in either direction, given or reckoned", async () => {
    const lines = (line: object) => ({
      orders: [
        {
          orderNumber: next(),
          currencyId: shop.id.EUR,
          lineItems: [{ productId: shop.id.hammer, quantity: 3, ...line }],
        },
      ],
    });
    for (const [line, ...fields] of [
      [{ unitPrice: 1e300 }, "totalPrice", "unitPrice"],
      [{ unitPrice: -Number.MAX_VALUE }, "totalPrice", "unitPrice"],
      [{ unitPrice: 1, totalPrice: 1e15 }, "totalPrice"],
      [{ unitPrice: 4e14 }, "totalPrice"],
    ] as const)
      assert.deepEqual(
        await refused("ordersUpsert", lines(line)),
        fields.map((field) => ["OUT_OF_RANGE", `orders.0.lineItems.0.${field}`]),
        JSON.stringify(line),
      );
    assert.deepEqual(await refused("ordersUpsert", lines({ unitPrice: -3e14 })), []);
  });

  it("is refused in an exchange rate, too large or too small", async () => {
    const receipt = (currencyFactor: number) => ({ currencyId: shop.id.USD, currencyFactor });
    for (const rate of [5e-324, 1e-13, 1.1e12, Number.MAX_VALUE])
      assert.deepEqual(
        await refused("goodsReceiptCreate", receipt(rate)),
        [["OUT_OF_RANGE", "currencyFactor"]],
        String(rate),
      );
    for (const rate of [1e-12, 1.0842, 1e12])
      assert.deepEqual(await refused("goodsReceiptCreate", receipt(rate)), [], String(rate));
  });

  it("can be read wherever it comes to, also in the default currency", async () => {
    const { goodsReceipt } = await shop.mutate(
      "goodsReceiptCreate",
      {
        currencyId: shop.id.USD,
        currencyFactor: 1e-12,
        taxStatus: "net",
        lineItems: [{ productId: shop.id.hammer, quantity: 2 ** 31 - 1, unitPrice: 999999999999999 }],
      },
      {
        select: "goodsReceipt { amountTotal lineItems { edges { node { totalPriceInDefaultCurrency } } } } ",
      },
    );
    assert.ok(goodsReceipt.amountTotal > 2e24);
    assert.ok(goodsReceipt.lineItems.edges[0].node.totalPriceInDefaultCurrency > 2e36);
  });
});

describe("the number of a batch", () => {
  it("has 255 characters at most, or no index could hold it", async () => {
    const receipt = (batchNumber: string) => ({
      lineItems: [{ productId: shop.id.glue, quantity: 1, batchNumber }],
    });
    const random = Array.from({ length: 3000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7919) % 20000)));
    for (const number of ["x".repeat(256), random.join("")])
      assert.deepEqual(await refused("goodsReceiptCreate", receipt(number)), [
        ["OUT_OF_RANGE", "lineItems.0.batchNumber"],
      ]);
    assert.deepEqual(await refused("goodsReceiptCreate", receipt("x".repeat(255))), []);
  });
});
