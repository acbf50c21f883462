import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { queryRows, useDatabase } from "../lib/database.ts";
import { assertProof } from "../lib/proof.ts";

// Triggers keep figures right for every writer: here an administrator, with SQL
const used = useDatabase("template_schema");
beforeEach(async () => {
  await used.client.query("begin");
  await used.client.query(scene);
});
afterEach(async () => {
  try {
    await proof();
  } finally {
    await used.client.query("rollback");
  }
});

const id = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const [hammer, nail] = [id(1), id(2)];
const [hall, shed, hallLocation, shedLocation] = [id(11), id(12), id(21), id(22)];
const [order, other] = [id(31), id(32)];
const [hammers, nails, voucher, othersNails] = [id(41), id(42), id(43), id(44)];
const [parcel, rest] = [id(51), id(52)];
const [hammersToShip, nailsToShip, nailsLater] = [id(61), id(62), id(63)];

const scene = `
  insert into erp.currency (id, iso_code, factor, is_default_currency, name, short_name, symbol) values
    ('${id(9)}', 'EUR', 1, true, '{"en-GB":"Euro"}', '{"en-GB":"EUR"}', '€');
  insert into erp.product (id, product_number) values ('${hammer}', 'hammer'), ('${nail}', 'nail');
  insert into erp.warehouse (id, code, name, is_default, is_default_receiving) values
    ('${hall}', 'hall', 'Hall', true, true), ('${shed}', 'shed', 'Shed', false, false);
  insert into erp.location (id, name, warehouse_id) values ('${hallLocation}', 'Hall', '${hall}'), ('${shedLocation}', 'Shed', '${shed}');
  insert into erp.sales_order (id, order_number, currency_id, state) values
    ('${order}', 'one', '${id(9)}', 'open'), ('${other}', 'two', '${id(9)}', 'in_progress');
  insert into erp.sales_order_line_item (id, order_id, product_id, type, identifier, label, quantity, unit_price, total_price, tax_rate) values
    ('${hammers}', '${order}', '${hammer}', 'product', 'hammer', 'Hammer', 5, 11.90, 59.50, 19),
    ('${nails}', '${order}', '${nail}', 'product', 'nail', 'Nail', 100, 0.10, 10, 7),
    ('${voucher}', '${order}', null, 'promotion', 'spring', 'Spring', 1, -5, -5, null),
    ('${othersNails}', '${other}', '${nail}', 'product', 'nail', 'Nail', 30, 0.10, 3, 7);
  insert into erp.fulfillment_order (id, number, destination_order_id, source_warehouse_location_id) values
    ('${parcel}', 'F1', '${order}', '${hallLocation}'), ('${rest}', 'F2', '${order}', '${shedLocation}');
  insert into erp.fulfillment_order_line_item (id, fulfillment_order_id, destination_order_line_item_id, product_id, quantity) values
    ('${hammersToShip}', '${parcel}', '${hammers}', '${hammer}', 5), ('${nailsToShip}', '${parcel}', '${nails}', '${nail}', 60),
    ('${nailsLater}', '${rest}', '${nails}', '${nail}', 40);`;

const rows = queryRows(() => used.client);
const value = async (text: string) => Object.values((await rows(`select ${text} as value`))[0])[0];
const run = (text: string) => used.client.query(text);
const proof = () => assertProof(used.client);

const reserved = () =>
  value(
    `(select jsonb_object_agg(product_number, reserved_stock) from erp.product where reserved_stock <> 0)`,
  );
/** Open units of fulfillment orders, by warehouse and product. */
const promised = () =>
  value(`(select jsonb_object_agg(w.code || ' ' || p.product_number, s.reserved_quantity) from ledger.warehouse_stock s
    join erp.warehouse w on w.id = s.warehouse_id join erp.product p on p.id = s.product_id where s.reserved_quantity <> 0)`);
const shipped = () =>
  value(`(select jsonb_object_agg(o.order_number || ' ' || l.identifier, l.shipped_quantity) from erp.sales_order_line_item l
    join erp.sales_order o on o.id = l.order_id where l.shipped_quantity <> 0)`);
const partial = () =>
  value(
    "(select string_agg(number, ' ' order by number) from erp.fulfillment_order where is_partially_fulfilled)",
  );
const amounts = (of = order) =>
  value(`(select concat_ws(' ', amount_total, amount_net) from erp.sales_order where id = '${of}')`);
const codes = (of = order) => value(`(select tracking_codes from erp.sales_order where id = '${of}')`);

/** Records a fulfillment of some units of lines of fulfillment orders. */
const fulfill = async (n: number, ...lines: [of: string, line: string, quantity: number][]) => {
  await run(`insert into erp.fulfillment (id, number) values ('${id(n)}', 'F-${n}')`);
  await run(
    `insert into erp.fulfillment_order_fulfillment (fulfillment_order_id, fulfillment_id) values ${[
      ...new Set(lines.map(([of]) => `('${of}', '${id(n)}')`)),
    ].join()}`,
  );
  await run(`insert into erp.fulfillment_line_item (fulfillment_id, fulfillment_order_id, fulfillment_order_line_item_id, quantity)
    values ${lines.map(([of, line, quantity]) => `('${id(n)}', '${of}', '${line}', ${quantity})`).join()}`);
};

describe("Product.reservedStock", () => {
  it("is what open and in-progress orders have not had shipped", async () => {
    assert.deepEqual(await reserved(), { hammer: 5, nail: 130 });
    await run(`update erp.sales_order_line_item set shipped_quantity = 20 where id = '${othersNails}'`);
    assert.deepEqual(await reserved(), { hammer: 5, nail: 110 });
    await run(`update erp.sales_order_line_item set quantity = quantity * 2 where product_id is not null`);
    assert.deepEqual(await reserved(), { hammer: 10, nail: 240 });
  });

  it("follows a line to another product and another order, and goes with it", async () => {
    await run(`update erp.sales_order_line_item set product_id = '${hammer}' where id = '${othersNails}'`);
    assert.deepEqual(await reserved(), { hammer: 35, nail: 100 });
    await run(`update erp.sales_order set state = 'completed' where id = '${other}'`);
    assert.deepEqual(await reserved(), { hammer: 5, nail: 100 });
    await run(
      `update erp.sales_order_line_item set order_id = '${order}' where id = '${othersNails}'; delete from erp.sales_order_line_item where id = '${hammers}'`,
    );
    assert.deepEqual(await reserved(), { hammer: 30, nail: 100 });
  });

  it("follows the states of orders, several at once too", async () => {
    await run("update erp.sales_order set state = 'cancelled'");
    assert.equal(await reserved(), null);
    await run(`update erp.sales_order set state = case id when '${order}' then 'open' else 'completed' end`);
    assert.deepEqual(await reserved(), { hammer: 5, nail: 100 });
    await run("update erp.sales_order set state = 'in_progress'");
    assert.deepEqual(await reserved(), { hammer: 5, nail: 130 });
  });

  it("loses an order that is deleted, and a product takes its own along", async () => {
    await run(`delete from erp.sales_order where id = '${order}'`);
    assert.deepEqual(await reserved(), { nail: 30 });
    await run(`delete from erp.product where id = '${nail}'`);
    assert.equal(await reserved(), null);
  });
});

describe("WarehouseStock.reservedQuantity", () => {
  it("is what the fulfillment orders of the warehouse's location have open", async () => {
    assert.deepEqual(await promised(), { "hall hammer": 5, "hall nail": 60, "shed nail": 40 });
    await run(`update erp.fulfillment_order_line_item set quantity = 50 where id = '${nailsToShip}'`);
    await run(`delete from erp.fulfillment_order_line_item where id = '${hammersToShip}'`);
    assert.deepEqual(await promised(), { "hall nail": 50, "shed nail": 40 });
  });

  it("counts fulfillment orders on hold, but none that are closed or cancelled", async () => {
    await run(
      `update erp.fulfillment_order set state = 'OnHold', state_before_hold = 'Open' where id = '${rest}'`,
    );
    await run(`update erp.fulfillment_order set state = 'Cancelled' where id = '${parcel}'`);
    assert.deepEqual(await promised(), { "shed nail": 40 });
    await run("update erp.fulfillment_order set state = 'Closed', state_before_hold = null");
    assert.equal(await promised(), null);
    await run("update erp.fulfillment_order set state = 'Open'");
    assert.deepEqual(await promised(), { "hall hammer": 5, "hall nail": 60, "shed nail": 40 });
  });

  it("moves with a fulfillment order to another location, and with a location to another warehouse", async () => {
    await run(
      `update erp.fulfillment_order set source_warehouse_location_id = '${shedLocation}', state = 'InProgress' where id = '${parcel}'`,
    );
    assert.deepEqual(await promised(), { "shed hammer": 5, "shed nail": 100 });
    await run(
      `delete from erp.location where id = '${hallLocation}'; update erp.location set warehouse_id = '${hall}'`,
    );
    assert.deepEqual(await promised(), { "hall hammer": 5, "hall nail": 100 });
    await run("update erp.location set warehouse_id = null");
    assert.equal(await promised(), null);
  });

  it("is given back when the fulfillment order, the location, the warehouse or the product goes", async () => {
    await run(`delete from erp.fulfillment_order where id = '${rest}'`);
    assert.deepEqual(await promised(), { "hall hammer": 5, "hall nail": 60 });
    await run(`delete from erp.product where id = '${nail}'`);
    assert.deepEqual(await promised(), { "hall hammer": 5 });
    await run(`delete from erp.location where id = '${hallLocation}'`);
    assert.equal(await promised(), null);
    await run(
      `update erp.fulfillment_order set source_warehouse_location_id = '${shedLocation}' where id = '${parcel}'`,
    );
    assert.deepEqual(await promised(), { "shed hammer": 5 });
    await run(`delete from erp.warehouse where id = '${shed}'`);
    assert.equal(await promised(), null);
  });
});

describe("what follows from fulfillments", () => {
  it("counts as fulfilled and shipped, and is not reserved any more", async () => {
    await fulfill(71, [parcel, hammersToShip, 5], [parcel, nailsToShip, 10], [rest, nailsLater, 40]);
    assert.deepEqual(await shipped(), { "one hammer": 5, "one nail": 50 });
    assert.deepEqual(await reserved(), { nail: 80 });
    assert.deepEqual(await promised(), { "hall nail": 50 });
    assert.equal(await partial(), "F1");
    await fulfill(72, [parcel, nailsToShip, 50]);
    assert.deepEqual(await shipped(), { "one hammer": 5, "one nail": 100 });
    assert.deepEqual([await promised(), await partial()], [null, null]);
  });

  it("is undone when they are cancelled, and comes back when that was a mistake", async () => {
    await fulfill(71, [parcel, hammersToShip, 2], [rest, nailsLater, 3]);
    await fulfill(72, [parcel, hammersToShip, 1]);
    await run("update erp.fulfillment set state = 'Cancelled'");
    assert.deepEqual([await shipped(), await partial()], [null, null]);
    assert.deepEqual(await promised(), { "hall hammer": 5, "hall nail": 60, "shed nail": 40 });
    await run(`update erp.fulfillment set state = 'Fulfilled' where id = '${id(71)}'`);
    assert.deepEqual(await shipped(), { "one hammer": 2, "one nail": 3 });
    assert.equal(await partial(), "F1 F2");
  });

  it("follows their lines", async () => {
    await fulfill(71, [parcel, hammersToShip, 2], [parcel, nailsToShip, 3]);
    await run("update erp.fulfillment_line_item set quantity = quantity + 1");
    assert.deepEqual(await shipped(), { "one hammer": 3, "one nail": 4 });
    await run(
      `delete from erp.fulfillment_line_item where fulfillment_order_line_item_id = '${hammersToShip}'`,
    );
    assert.deepEqual(await shipped(), { "one nail": 4 });
    await run("update erp.fulfillment set state = 'Cancelled'");
    await run("update erp.fulfillment_line_item set quantity = 60");
    assert.equal(await shipped(), null);
  });

  it("goes with a fulfillment, a fulfillment order or the link between them that is deleted", async () => {
    await fulfill(71, [parcel, hammersToShip, 2], [rest, nailsLater, 3]);
    await fulfill(72, [parcel, hammersToShip, 1], [parcel, nailsToShip, 4]);
    await fulfill(73, [parcel, nailsToShip, 5]);
    await run(`delete from erp.fulfillment where id = '${id(71)}'`);
    assert.deepEqual(await shipped(), { "one hammer": 1, "one nail": 9 });
    await run(`delete from erp.fulfillment_order_fulfillment where fulfillment_id = '${id(73)}'`);
    assert.deepEqual(await shipped(), { "one hammer": 1, "one nail": 4 });
    await run(`delete from erp.fulfillment_order where id = '${parcel}'`);
    assert.deepEqual([await shipped(), await partial()], [null, null]);
    assert.deepEqual(await reserved(), { hammer: 5, nail: 130 });
  });

  it("leaves alone what was shipped without a fulfillment", async () => {
    await run(`update erp.sales_order_line_item set shipped_quantity = 7 where id = '${nails}'`);
    await fulfill(71, [rest, nailsLater, 3]);
    assert.deepEqual(await shipped(), { "one nail": 10 });
    await run("delete from erp.fulfillment");
    assert.deepEqual(await shipped(), { "one nail": 7 });
  });

  it("goes with the order", async () => {
    await fulfill(71, [parcel, hammersToShip, 2], [rest, nailsLater, 3]);
    await run(`delete from erp.sales_order where id = '${order}'`);
    assert.deepEqual(await reserved(), { nail: 30 });
    // The warehouse still has them to ship, though their order is gone
    assert.deepEqual(await promised(), { "hall hammer": 3, "hall nail": 60, "shed nail": 37 });
  });
});

describe("amounts of an order", () => {
  it("are the sums of its lines, those without a tax rate taxed as the others on average", async () => {
    // 59.50 at 19 % and 10 at 7 % are 50 + 9.35; 5 less are 4.27 less without tax
    assert.equal(await amounts(), "64.50 55.08");
    assert.equal(await amounts(other), "3 2.80");
  });

  it("follow the lines", async () => {
    await run(`update erp.sales_order_line_item set total_price = 119, tax_rate = 19 where id = '${nails}'`);
    await run(`delete from erp.sales_order_line_item where id = '${voucher}'`);
    assert.equal(await amounts(), "178.50 150.00");
    await run(`update erp.sales_order_line_item set order_id = '${other}' where id = '${hammers}'`);
    assert.deepEqual([await amounts(), await amounts(other)], ["119 100.00", "62.50 52.80"]);
    await run("update erp.sales_order_line_item set total_price = null");
    assert.deepEqual([await amounts(), await amounts(other)], ["", ""]);
  });

  it("follow the tax status", async () => {
    await run(`update erp.sales_order set tax_status = 'tax-free' where id = '${order}'`);
    assert.equal(await amounts(), "64.50 64.50");
    await run(`update erp.sales_order set tax_status = 'net' where id = '${order}'`);
    assert.equal(await amounts(), "64.50 55.08");
  });

  it("stay as they were given as long as no line has a price", async () => {
    await run(`insert into erp.sales_order (id, currency_id, amount_total, amount_net) values ('${id(33)}', '${id(9)}', 7, 6);
      update erp.sales_order set tax_status = 'tax-free' where id = '${id(33)}'`);
    const insert = (price: string) =>
      run(
        `insert into erp.sales_order_line_item (order_id, identifier, label, quantity, total_price) values ('${id(33)}', 'a', 'A', 1, ${price})`,
      );
    await insert("null");
    assert.equal(await amounts(id(33)), "7 6");
    await insert("9");
    assert.equal(await amounts(id(33)), "9 9");
  });
});

describe("tracking codes of an order", () => {
  const label = (n: number, tracking: string[], rest = "'created', 'outgoing'") =>
    run(`insert into erp.shipping_label (id, order_id, carrier_technical_name, tracking_codes, state, type)
      values ('${id(n)}', '${order}', 'dhl', '${JSON.stringify(tracking)}', ${rest})`);
  const cancel = (n: number) =>
    run(`update erp.shipping_label set state = 'cancelled', cancelled_at = now() where id = '${id(n)}'`);
  const enter = (...tracking: string[]) =>
    run(
      `update erp.sales_order set entered_tracking_codes = entered_tracking_codes || '{${tracking.join()}}' where id = '${order}'`,
    );

  it("come with labels and go with them", async () => {
    assert.equal(await codes(), null);
    await label(81, ["A", "B"]);
    await label(82, ["C"]);
    assert.deepEqual(await codes(), ["A", "B", "C"]);
    await cancel(81);
    assert.deepEqual(await codes(), ["C"]);
    await run(`delete from erp.shipping_label where id = '${id(82)}'`);
    assert.deepEqual(await codes(), []);
  });

  it("are those of outgoing labels that neither failed nor were cancelled", async () => {
    await label(81, ["A"], "'failed', 'outgoing'");
    await label(82, ["B"], "'created', 'return'");
    assert.equal(await codes(), null);
    await run(`update erp.shipping_label set type = 'outgoing', tracking_codes = '["B", "D"]'`);
    assert.deepEqual(await codes(), ["B", "D"]);
    await run(`update erp.shipping_label set order_id = '${other}'`);
    assert.deepEqual([await codes(), await codes(other)], [[], ["B", "D"]]);
    await run("update erp.shipping_label set state = 'failed'");
    assert.deepEqual(await codes(other), []);
  });

  it("stay when another label has them, or somebody entered them", async () => {
    await label(81, ["A", "B", "C"]);
    await label(82, ["B"]);
    await enter("C", "C", "X");
    assert.deepEqual(await codes(), ["A", "B", "C", "X"]);
    await cancel(81);
    assert.deepEqual(await codes(), ["B", "C", "X"]);
    await run("delete from erp.shipping_label");
    assert.deepEqual(await codes(), ["C", "X"]);
  });

  it("that are written into the list count as entered by hand; those of labels stay in it", async () => {
    await label(81, ["A"]);
    await run(`update erp.sales_order set tracking_codes = '["X", "A", "X", "Y"]' where id = '${order}'`);
    assert.deepEqual(await codes(), ["X", "A", "Y"]);
    await run(`update erp.sales_order set tracking_codes = '["Y"]' where id = '${order}'`);
    assert.deepEqual(await codes(), ["Y", "A"]);
    await cancel(81);
    assert.deepEqual(await codes(), ["Y"]);
    await run(
      `insert into erp.sales_order (id, currency_id, tracking_codes) values ('${id(33)}', '${id(9)}', '["Z", "Z"]')`,
    );
    assert.deepEqual(await codes(id(33)), ["Z"]);
  });

  it("are an empty list without any, where there is a delivery", async () => {
    const made = id(34);
    await run(
      `insert into erp.sales_order (id, currency_id, delivery_state) values ('${made}', '${id(9)}', 'open')`,
    );
    assert.deepEqual(await codes(made), []);
    await run(`update erp.sales_order set entered_tracking_codes = '{X}' where id = '${made}'`);
    assert.deepEqual(await codes(made), ["X"]);
    await run(
      `update erp.sales_order set entered_tracking_codes = '{}', tracking_codes = null where id = '${made}'`,
    );
    assert.deepEqual(await codes(made), []);
  });

  it("must be texts", async () => {
    await run("savepoint before");
    await assert.rejects(run(`update erp.sales_order set tracking_codes = '{"a": 1}'`), {
      constraint: "order_tracking_codes_are_strings",
    });
    await run("rollback to before");
  });

  it("go with the order", async () => {
    await label(81, ["A"]);
    await run(`delete from erp.sales_order where id = '${order}'`);
    assert.deepEqual(await rows("select order_id from erp.shipping_label"), [{ order_id: null }]);
  });
});
