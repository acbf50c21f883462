import assert from "node:assert/strict";
import { uuidOf } from "./ids.ts";
import type { MutateOptions } from "./shop.ts";
import type { ShippingShop, ShopOrder } from "./shipping-shop.ts";

const line =
  "id number state quantity pickedQuantity packedQuantity product { productNumber } batch { number } " +
  "binLocation { code } stockContainer { number } fulfillmentOrderLineItemId task { id }";
const task = "id number state fulfillmentOrderId stockContainer { id number fulfillmentOrderId }";
const list =
  `id number state assignee lines(first: 100) { edges { node { ${line} } } } ` +
  `tasks(first: 100) { edges { node { ${task} } } }`;

/** Selected fields of the payloads of mutations of pick lists. */
const selections: Record<string, string> = {
  pickListsCreate: "pickLists { id number state assignee } warnings { code message details }",
  pickListStart: "pickList { id state assignee }",
  pickListLineConfirm: "pickListLine { id state pickedQuantity }",
  pickListLineShort:
    "pickListLine { id state } missingQuantity replacements { id quantity binLocation { code } }",
  pickListPack:
    "pickTask { id state } fulfillments { id number } fulfillmentOrder { id state isPartiallyFulfilled } " +
    "stockMovements { quantity processTypeTechnicalName sourceStockContainer { number } }",
  pickListCancel: "pickList { id state } stockMovements { quantity processTypeTechnicalName }",
};

/** Calls about pick lists, by short names. */
export function pickingIn(shop: ShippingShop) {
  const nodes = (found: any): any[] => found.edges.map(({ node }: any) => node);
  const call = (name: string, input: object, options: MutateOptions = {}): Promise<any> =>
    shop.mutate(name, input, { select: selections[name]!, ...options });
  /** Calls a mutation that must succeed. */
  const done = async (name: string, input: object): Promise<any> => {
    const payload = await call(name, input);
    assert.deepEqual(payload.userErrors, []);
    return payload;
  };
  const read = async (id: string) => {
    const { pickList } = await shop.read(`query ($id: ID!) { pickList(id: $id) { ${list} } }`, { id });
    return { ...pickList, lines: nodes(pickList.lines), tasks: nodes(pickList.tasks) };
  };
  const placeOf = ({ binLocation, stockContainer }: any): string =>
    binLocation?.code ?? stockContainer?.number ?? "hall";
  return {
    call,
    done,
    read,
    /** Plans fulfillment orders. Returns the first list. */
    async plan(orders: ShopOrder[], rest: object = {}): Promise<any> {
      const fulfillmentOrderIds = orders.flatMap((order) => order.fulfillmentOrders.map(({ id }) => id));
      const payload = await done("pickListsCreate", {
        warehouseId: shop.id.hall,
        fulfillmentOrderIds,
        ...rest,
      });
      return read(payload.pickLists[0].id);
    },
    /** Plans and starts. */
    async begin(orders: ShopOrder[], rest: object = {}): Promise<any> {
      const planned = await this.plan(orders, rest);
      await done("pickListStart", { id: planned.id });
      return read(planned.id);
    },
    /** Makes an order of products that the hall ships. */
    order: (...lines: [product: string, quantity: number][]) =>
      shop.order(
        lines.map(([product, quantity]) => ({ product, quantity })),
        [{ lines: lines.map(([, quantity], index) => [index, quantity] as [number, number]) }],
      ),
    /** Describes the lines of a list: place, product, units, state. */
    way: ({ lines }: any): string[] =>
      lines.map(
        (one: any) =>
          `${placeOf(one)} ${one.product.productNumber}${one.batch ? ` ${one.batch.number}` : ""} ` +
          `${one.pickedQuantity}/${one.quantity} ${one.state}`,
      ),
    placeOf,
    /** Confirms a whole line by its product number. */
    confirm: (one: any, rest: object = {}) =>
      done("pickListLineConfirm", {
        id: one.id,
        code: one.product.productNumber,
        quantity: one.quantity - one.pickedQuantity,
        ...rest,
      }),
    /** Makes empty containers in the hall. */
    async containers(...numbers: string[]): Promise<string[]> {
      const made = [];
      for (const number of numbers) {
        const { stockContainer, userErrors } = await shop.mutate(
          "stockContainerCreate",
          { number, warehouseId: shop.id.hall, kind: "tote" },
          { select: "stockContainer { id }" },
        );
        assert.deepEqual(userErrors, []);
        made.push(stockContainer.id);
      }
      return made;
    },
    /** Returns the units of a product in a container. */
    async inContainer(product: string, container: string): Promise<number> {
      const [row] = await shop.sql(
        "select coalesce(sum(quantity), 0)::int as units from ledger.stock where product_id = $1 and stock_container_id = $2",
        shop.id[product]!,
        container,
      );
      return row.units;
    },
    /** Returns physical, reserved and available stock of a product, and what the hall holds and promises of it. */
    async figures(product: string): Promise<number[]> {
      const [row] = await shop.sql(
        `select array[p.physical_stock, p.reserved_stock, p.available_stock, w.quantity, w.reserved_quantity] as figures
         from erp.product p join ledger.warehouse_stock w on w.product_id = p.id and w.warehouse_id = $2 where p.id = $1`,
        shop.id[product]!,
        shop.id.hall!,
      );
      return row.figures;
    },
    /** Deletes all pick lists, fulfillment orders and stock. */
    async clear(): Promise<void> {
      await shop.emptyTables("erp.pick_list_line", "erp.pick_task", "erp.pick_list");
      await shop.owner.query("delete from erp.product_gtin");
      await shop.owner.query("update erp.stock_container set fulfillment_order_id = null");
      await shop.emptyTables("erp.fulfillment_order", "erp.sales_order", "erp.stock_reservation");
      await shop.empty();
      await shop.owner.query("update erp.product set reserved_stock = 0");
    },
    uuidOf,
  };
}
