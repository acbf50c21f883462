import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import { uuidOf } from "../lib/ids.ts";
import type { Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop } from "../lib/shop.ts";

// Lines, and other rows of one call, are in the given order
let shop: Shop;
const products = ["hammer", "nail", "glue"];
before(async () => {
  shop = await openShop();
  // Terms for some products, and a variant, so that Postgres has joins that could change the order
  await shop.owner.query(`
    insert into erp.product (product_number, parent_id)
      select 'variant-' || n, p.id from erp.product p, generate_series(1, 3) n where p.product_number = 'hammer';
    insert into erp.product_supplier_configuration (product_id, supplier_id)
      select p.id, s.id from erp.product p, erp.supplier s where p.product_number in ('nail', 'variant-2') and s.number = 'acme';
    insert into erp.product_supplier_price (product_supplier_configuration_id, currency_id, net, gross)
      select c.id, u.id, 1, 1.19 from erp.product_supplier_configuration c, erp.currency u`);
  const { rows } = await shop.owner.query(
    "select product_number, id from erp.product where product_number ~ '^variant'",
  );
  for (const { product_number: number, id } of rows) {
    shop.id[number] = `gid://service/Product/${id}`;
    products.push(number);
  }
});
after(() => shop.close());
afterEach(() => assertLedgerIsRight(shop));

const nodes = ({ edges }: any) => edges.map(({ node }: any) => node);
/** Lines with distinct quantities and repeated products. */
const lines = (quantities: number[], rest: object = {}) =>
  quantities.map((quantity) => ({
    productId: shop.id[products[(quantity * quantity) % products.length]!],
    quantity,
    ...rest,
  }));
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

interface Machine {
  create: (lineItems: object[]) => Promise<any>;
  set: (id: string, lineItems: object[]) => Promise<any>;
}
const machine = (type: string, input: object, fields: string): Machine => {
  const field = type.charAt(0).toLowerCase() + type.slice(1);
  const select = `${field} { id lineItems(first: 250) { edges { node { id quantity product { id } ${fields} } } } }`;
  const call = async (name: string, given: object) => {
    const payload = await shop.mutate(`${field}${name}`, given, { select });
    assert.deepEqual(payload.userErrors, []);
    return payload[field];
  };
  return {
    create: (lineItems) => call("Create", { ...input, lineItems }),
    set: (id, lineItems) => call("LineItemsSet", { id, lineItems }),
  };
};

for (const type of ["SupplierOrder", "GoodsReceipt"]) {
  describe(`lines of a ${type}`, () => {
    let kind: Machine;
    before(() => {
      kind =
        type === "SupplierOrder"
          ? machine(type, { supplierId: shop.id.acme }, "position")
          : machine(type, { type: "Free" }, "");
    });
    const quantities = ({ lineItems }: any) => nodes(lineItems).map(({ quantity }: any) => quantity);
    const positions = ({ lineItems }: any) => nodes(lineItems).map(({ position }: any) => position);
    /** The present lines, as input. */
    const kept = ({ lineItems }: any, wanted: number[]) =>
      wanted.map((quantity) => {
        const { id, product } = nodes(lineItems).find((line: any) => line.quantity === quantity);
        return { id, productId: product.id, quantity };
      });

    it("are listed as they were given: 8, 12 and 250 of them", async () => {
      for (const count of [8, 12, 250]) {
        const made = await kind.create(lines(upTo(count)));
        assert.deepEqual(quantities(made), upTo(count));
        if (type === "SupplierOrder") assert.deepEqual(positions(made), upTo(count));
      }
    });

    it("are listed as they were given when others are replaced", async () => {
      const made = await kind.create(lines(upTo(3)));
      const others = upTo(12).map((n) => n + 20);
      assert.deepEqual(quantities(await kind.set(made.id, lines(others))), others);
    });

    it("new ones stand between those that are there, which keep their ids, again and again", async () => {
      let now = await kind.create(lines([1, 2, 3]));
      const ids = nodes(now.lineItems).map(({ id }: any) => id);
      for (let round = 0; round < 25; round++) {
        const [one, two, three] = kept(now, [1, 2, 3]);
        const first = 10 + round * 10;
        const input = [
          ...lines([first]),
          one!,
          ...(round === 0 ? [] : kept(now, [first - 8])),
          ...lines([first + 1, first + 2]),
          two!,
          ...lines([first + 3]),
          three!,
          ...lines([first + 4, first + 5]),
        ];
        now = await kind.set(now.id, input);
        assert.deepEqual(
          quantities(now),
          input.map(({ quantity }) => quantity),
        );
        if (type === "SupplierOrder") assert.deepEqual(positions(now), upTo(input.length));
        const stayed = nodes(now.lineItems).filter(({ quantity }: any) => quantity <= 3);
        assert.deepEqual(
          stayed.map(({ id }: any) => id),
          ids,
        );
      }
      for (const { id } of nodes(now.lineItems)) assert.match(uuidOf(id), /^.{14}7.{4}[89ab]/);
    });

    it("those that are there and change places keep their ids, and so their places in the list", async () => {
      const made = await kind.create(lines([1, 2]));
      const now = await kind.set(made.id, [
        ...lines([5]),
        ...kept(made, [2]),
        ...lines([6]),
        ...kept(made, [1]),
      ]);
      assert.deepEqual(
        quantities(now).filter((quantity: number) => quantity <= 2),
        [1, 2],
      );
      if (type === "SupplierOrder") {
        const byPosition = nodes(now.lineItems).toSorted((a: any, b: any) => a.position - b.position);
        assert.deepEqual(
          byPosition.map(({ quantity }: any) => quantity),
          [5, 2, 6, 1],
        );
      }
    });
  });
}

describe("other rows that one call makes", () => {
  it("batches, and stock in places that had none, stand in the order of the lines", async () => {
    const numbers = ["Z", "M", "A", "Q", "B", "Y", "C"];
    const lineItems = numbers.map((batchNumber) => ({ productId: shop.id.glue, quantity: 1, batchNumber }));
    await shop.mutate("goodsReceiptCreate", { type: "Free", lineItems: [...lineItems, lineItems[1]] });
    const { rows } = await shop.owner.query(
      "select number from erp.batch where number = any ($1) order by id",
      [numbers],
    );
    assert.deepEqual(
      rows.map(({ number }) => number),
      numbers,
    );
    const places = ["returns", "shed", "hall"].map((name) => ({ warehouseId: shop.id[name] }));
    const { stocks } = await shop.mutate(
      "stockAdjust",
      { lines: places.map((place, n) => ({ productId: shop.id.nail, place, delta: n + 1 })) },
      { select: "stocks { id quantity }" },
    );
    assert.deepEqual(
      stocks.toSorted((a: any, b: any) => (a.id < b.id ? -1 : 1)).map(({ quantity }: any) => quantity),
      [1, 2, 3],
    );
  });
});

describe("ids of new lines", () => {
  const idsOf = async (given: (string | null)[]) => {
    const { rows } = await shop.owner.query("select erp.line_ids($1) as ids", [given]);
    return rows[0].ids as string[];
  };
  it("are random between those beside them, and never the same", async () => {
    const one = "019a0000-0000-7000-a000-000000000000";
    const two = "019a0000-0000-7001-8000-000000000000";
    const seen = new Set<string>();
    for (let n = 0; n < 20; n++) {
      const ids = await idsOf([null, one, ...Array<null>(8).fill(null), two, null]);
      assert.deepEqual(ids.toSorted(), ids);
      for (const id of ids.slice(2, -2)) seen.add(id);
    }
    assert.equal(seen.size, 160);
  });

  it("find a place at the end where there is no room, or ids are of another kind", async () => {
    const [low, high] = ["019a0000-0000-7000-8000-000000000001", "019a0000-0000-7000-8000-000000000002"];
    const ids = await idsOf([low, null, high]);
    assert.ok(ids[1]! > high);
    const other = "11111111-2222-4333-2444-555555555555";
    for (const id of await idsOf([null, other, null])) assert.match(id, /^[0-9a-f-]{36}$/);
  });
});
