import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { useValues } from "./valued.ts";

const both = ["moving_average", "fifo"] as const;
const all = [...both, "period_average"] as const;

describe("the value of the stock", () => {
  const {
    rows,
    undone,
    move,
    receipt,
    receive,
    open,
    land,
    writeDown,
    close,
    state,
    value,
    costs,
    outside,
    faults,
  } = useValues();
  const test = (name: string, work: () => Promise<void>) => void it(name, () => undone(work));

  test("is nothing without movements", async () => {
    for (const method of all) assert.equal(await value(method), null);
  });

  test("is the average of what came, or what came last", async () => {
    await receive("A", { lines: [[10, 2]] });
    await move("hall", "order 1", 4);
    await receive("B", { lines: [[6, 4]] });
    await move("hall", "order 2", 8);
    assert.equal(await value("moving_average"), "4 × 12"); // 6 × 2 + 6 × 4 = 36, of which 4 of 12
    assert.equal(await value("fifo"), "4 × 16");
    assert.equal(await value("period_average"), "4 × 11"); // 44 for 16 units
    assert.deepEqual(await costs("moving_average"), ["20", "-8", "24", "-24"]);
    assert.deepEqual(await costs("fifo"), ["20", "-8", "24", "-20"]);
    assert.deepEqual(await costs("period_average"), ["20", "-11", "24", "-22"]);
    assert.equal(await outside("order 2", "fifo"), "8 × 20");
  });

  test("is net of deductible tax, in the default currency, rounded once per line", async () => {
    await receive("A", {
      tax: "gross",
      factor: 1.25,
      lines: [
        [3, 11.9, 19],
        [1, 10.7, 7],
        [2, 5],
      ],
    });
    // 3 × 10 / 1.25 + 10 / 1.25 + 2 × 5 / 1.25
    assert.equal(await value(), "6 × 40");
    await receive("B", { tax: "tax-free", factor: 7, lines: [[3, 1, 19]] });
    assert.equal(await value(), "9 × 40.428571");
  });

  test("loses no millionth: the last units take the rest", async () => {
    await receive("A", { lines: [[3, 1]], factor: 7 }); // 0.428571
    for (let n = 0; n < 3; n++) await move("hall", "order 1", 1);
    await receive("B", { lines: [[7, 1]], factor: 7 });
    await move("hall", "order 1", 3);
    for (const method of all) {
      assert.equal(
        (await costs(method)).reduce((sum, cost) => sum + Math.round(Number(cost) * 1e6), 0) / 1e6,
        Number((await value(method))!.split(" × ")[1]),
        method,
      );
      assert.deepEqual((await costs(method)).length, 6);
    }
    assert.deepEqual((await costs()).slice(1, 4), ["-0.142857", "-0.142857", "-0.142857"]);
    assert.equal(await outside("order 1"), "6 × 0.857142");
  });

  test("takes a receipt at what its lines cost together, and throws away at the same", async () => {
    await receipt("A", {
      lines: [
        [4, 1],
        [6, 3.5],
      ],
    });
    await move("unknown", "receipt A", 10);
    assert.equal(await value(), null); // it counts once it is put away
    await move("receipt A", "hall", 5);
    await move("receipt A", "stock_correction", 2);
    await move("receipt A", "hall bin", 3);
    for (const method of all) assert.equal(await value(method), "8 × 20", method); // 25 × 8 / 10
    assert.equal(await outside("receipt A"), "0 × 0");
  });

  test("does not change by moves within the stock, and is shared among warehouses", async () => {
    await receive("A", { lines: [[10, 1]] });
    await move("hall", "box 1", 3);
    await move("box 1", "loft", 1);
    await move("hall", "hall bin", 4);
    await move("hall", "order 1", 3);
    const shares = await rows(
      `select w.code, s.quantity::int, trim_scale(s.value)::text as value
       from valuation.shares('moving_average', 99, null) s left join erp.warehouse w on w.id = s.warehouse_id order by code`,
    );
    assert.deepEqual(shares, [
      { code: "hall", quantity: 4, value: "4" },
      { code: "loft", quantity: 1, value: "1" },
      { code: "shed", quantity: 2, value: "2" },
    ]);
    for (const method of all) assert.equal(await value(method), "7 × 7");
    await writeDown(0.000001);
    const [{ sum }] = await rows("select sum(value)::text from valuation.shares('fifo', 99)");
    assert.equal(sum, "6.999999");
  });

  test("takes returned goods back at the value they left with", async () => {
    await receive("A", { lines: [[4, 2]] });
    await move("hall", "order 1", 3); // 6
    await receive("B", { lines: [[9, 8]] }); // 74 for 10
    await move("order 1", "hall", 1); // a cancelled shipment: 2
    await move("order 1", "return 1", 1);
    await receipt("R", { type: "Customer", lines: [[1, 100]] });
    await move("return 1", "receipt R", 1);
    await move("receipt R", "hall", 1);
    assert.equal(await value("moving_average"), "12 × 78");
    assert.equal(await value("fifo"), "12 × 78");
    assert.equal(await outside("order 1"), "1 × 2");
    assert.equal(await outside("return 1"), "0 × 0");
    // Two of three came back in the same period, so one went: 80 / 13
    assert.equal(await value("period_average"), "12 × 73.846154");
    assert.equal(await outside("order 1", "period_average"), "1 × 6.153846");
    assert.equal((await state())!.cost, "8"); // by the newest receipt
  });

  test("takes goods back in a later period at the value they left with", async () => {
    await receive("A", { lines: [[4, 2]] });
    await move("hall", "order 1", 3);
    for (const method of all) await rows(`savepoint ${method}`);
    await close("period_average");
    await receive("B", { lines: [[9, 8]] });
    await move("order 1", "hall", 2);
    await move("hall", "order 1", 6);
    for (const method of both) assert.equal((await value(method))!.split(" ")[0], "6", method);
    assert.equal(await value("moving_average"), "6 × 39"); // 2 + 72 + 4 for 12
    assert.equal(await value("period_average"), "6 × 39");
    assert.equal(await value("fifo"), "6 × 36"); // 2 + 4 × 8 … 4 of B, 2 returned: 32 + 4
    assert.equal(await outside("order 1"), "7 × 41"); // 1 × 2 and 6 × 6.5
    assert.equal(await outside("order 1", "period_average"), "7 × 41");
    assert.deepEqual(await costs("moving_average"), ["72", "4", "-39"]);
  });

  test("leaves with goods that go back to the supplier, or are thrown away", async () => {
    await receive("A", { lines: [[4, 1]] });
    await receive("B", { lines: [[4, 3]] });
    await receipt("C", { type: "Supplier", lines: [[-2, 5]] });
    await move("hall", "receipt C", 2);
    await move("receipt C", "unknown", 2);
    await move("hall", "stock_correction", 3);
    assert.equal(await value("moving_average"), "3 × 6");
    assert.equal(await value("period_average"), "3 × 6");
    assert.equal(await value("fifo"), "3 × 9");
    assert.equal(await outside("receipt C"), "0 × 0");
  });

  test("is what opening values say, which may be zero", async () => {
    const first = await move("initialization", "hall", 4);
    const second = await move("import", "hall", 6);
    for (const method of all)
      assert.deepEqual(await faults(method), [`PRICE_MISSING ${first}`, `PRICE_MISSING ${second}`]);
    assert.equal(await value(), "10 × 0");
    await open(first, 2.5);
    await open(second, 0);
    for (const method of all) {
      assert.deepEqual(await faults(method), []);
      assert.equal(await value(method), "10 × 10", method);
    }
    assert.equal((await state())!.cost, "0");
  });

  test("takes what a count finds at the average, then at the last known value", async () => {
    const lost = await move("stock_correction", "hall", 1);
    assert.deepEqual(await faults(), [`PRICE_MISSING ${lost}`]);
    await open(lost, 1);
    await receive("A", { lines: [[3, 3]] });
    await move("stock_correction", "hall", 2); // 5
    for (const method of all) assert.equal(await value(method), "6 × 15", method);
    await move("hall", "unknown", 6);
    await move("stock_correction", "hall", 2);
    assert.equal(await value("moving_average"), "2 × 5");
    assert.equal(await value("fifo"), "2 × 5");
    const priced = await move("stock_correction", "hall", 2);
    await open(priced, 9);
    assert.equal(await value(), "4 × 23");
  });

  test("is incomplete without the price of a line, and complete as soon as it is known", async () => {
    await receipt("A", {
      lines: [
        [4, null],
        [1, 8],
      ],
    });
    await move("unknown", "receipt A", 5);
    assert.deepEqual(await faults(), []);
    const arrival = await move("receipt A", "hall", 5);
    await move("hall", "order 1", 2);
    for (const method of all) {
      assert.deepEqual(await faults(method), [`PRICE_MISSING ${arrival}`]);
    }
    await rows("update erp.goods_receipt_line_item set unit_price = 3 where unit_price is null");
    for (const method of all) {
      assert.deepEqual(await faults(method), []);
    }
    assert.equal(await value(), "3 × 12");
    assert.equal(await outside("order 1"), "2 × 8");
    await rows("update erp.goods_receipt set currency_factor = null where number = 'A'");
    assert.deepEqual(await faults(), [`PRICE_MISSING ${arrival}`]);
  });

  test("forgets what went to an order that was deleted", async () => {
    await receive("A", { lines: [[4, 2]] });
    await move("hall", "order 1", 2);
    await receive("B", { lines: [[2, 5]] });
    await move("order 1", "hall", 1);
    assert.equal(await value(), "5 × 16"); // 4 + 10 + 2
    await rows("delete from erp.sales_order where id = md5('order 1')::uuid");
    assert.equal(await value(), "5 × 17.5"); // 14 for 4, and one at the average
    assert.equal(await outside("order 1"), null);
  });

  test("has the costs of purchase of what is still there; the rest is an expense", async () => {
    await receive("A", { lines: [[10, 1]] });
    await receive("B", { lines: [[2, 4]] });
    await move("hall", "order 1", 6);
    await land("A", 10);
    assert.deepEqual(
      [await value("moving_average"), (await state("moving_average"))!.landed],
      ["6 × 15", "4"], // 6 of 10 units: more than there are, so 6
    );
    assert.deepEqual([await value("fifo"), (await state("fifo"))!.landed], ["6 × 16", "6"]); // 4 of 10
    // 18 and 6 for 12 units
    assert.deepEqual(
      [await value("period_average"), (await state("period_average"))!.landed],
      ["6 × 12", "4"],
    );
    await move("hall", "order 1", 6);
    await land("A", 0.5);
    for (const method of both) assert.equal(await value(method), "0 × 0");
    assert.equal((await state("fifo"))!.landed, "6.5");
  });

  test("has costs of purchase that were known before the goods came", async () => {
    await receipt("A", { lines: [[4, 1]] });
    await move("unknown", "receipt A", 4);
    await land("A", 2);
    await move("receipt A", "stock_correction", 1);
    await move("receipt A", "hall", 3);
    for (const method of all) {
      assert.equal(await value(method), "3 × 4.5", method);
      assert.equal((await state(method))!.landed, "0");
    }
  });

  test("falls by write-downs, to zero at most, and rises again", async () => {
    await receive("A", { lines: [[2, 5]] });
    await receive("B", { lines: [[2, 10]] });
    await writeDown(3);
    for (const method of all) assert.equal(await value(method), "4 × 27", method);
    assert.deepEqual((await state("fifo"))!.layers, [
      { quantity: 2, value: 9, goods_receipt_id: (await state("fifo"))!.layers[0].goods_receipt_id },
      { quantity: 2, value: 18, goods_receipt_id: (await state("fifo"))!.layers[1].goods_receipt_id },
    ]);
    await writeDown(30);
    for (const method of all) {
      const { value, variance } = (await state(method))!;
      assert.deepEqual([value, variance], method === "period_average" ? ["0", "3"] : ["0", "3"], method);
    }
    await writeDown(-8);
    assert.equal(await value("fifo"), "4 × 8");
    await move("hall", "order 1", 4);
    await writeDown(-1);
    for (const method of both) assert.deepEqual((await state(method))!.variance, "2", method);
    assert.equal(await value("period_average"), "0 × 0");
  });

  test("continues from a closed report by another method", async () => {
    await receive("A", { lines: [[2, 1]] });
    await receive("B", { lines: [[2, 4]] });
    await move("hall", "order 1", 1);
    await close("moving_average"); // 3 × 7.5
    await move("hall", "order 2", 1);
    assert.equal(await value("fifo"), "2 × 5");
    assert.equal(await value("period_average"), "2 × 5");
    await close("fifo", "2026-02-01");
    await receive("C", { lines: [[1, 7]] });
    await move("hall", "order 2", 2);
    assert.equal(await value("fifo"), "1 × 7");
    assert.equal(await value("moving_average"), "1 × 4");
    assert.equal(await outside("order 2", "fifo"), "3 × 7.5");
  });

  test("keeps layers, and the receipts of their costs, over a report", async () => {
    await receive("A", { lines: [[2, 1]] });
    await receive("B", { lines: [[2, 4]] });
    await move("hall", "order 1", 1);
    await close("fifo");
    await land("B", 3, "2026-01-02");
    await move("hall", "order 1", 2);
    assert.equal(await value("fifo"), "1 × 5.5");
    assert.equal(await outside("order 1", "fifo"), "3 × 7.5"); // 1, and 1 + 5.5
  });

  test("counts bookings of a later day in the next period, although no movement came between", async () => {
    await receive("A", { lines: [[4, 2]] });
    await writeDown(1, "2026-01-01");
    await writeDown(2, "2026-01-02");
    assert.equal((await state("moving_average", undefined, "2026-01-01"))!.value, "7");
    await close("moving_average", "2026-01-01");
    assert.equal((await state())!.value, "5");
    await close("moving_average", "2026-01-03");
    assert.equal((await state())!.value, "5");
    assert.equal((await state("moving_average", undefined, "2026-01-01"))!.value, "7");
  });

  test("starts again from the report before when the newest is void", async () => {
    await receive("A", { lines: [[4, 2]] });
    await move("hall", "order 1", 1);
    await close("moving_average");
    await move("order 1", "hall", 1);
    const id = await close("moving_average", "2026-01-02");
    await rows("update erp.goods_receipt_line_item set unit_price = 5");
    assert.equal(await value(), "4 × 8");
    await rows("update valuation.report set voided_at = now(), void_reason = 'Test' where id = $1", [id]);
    assert.equal(await value(), "4 × 8");
    await rows("update valuation.report set voided_at = now(), void_reason = 'Test' where voided_at is null");
    assert.equal(await value(), "4 × 20");
  });

  test("is known up to each number of the ledger, of given products or all", async () => {
    const number = await receive("A", { lines: [[4, 2]] });
    await move("hall", "order 1", 1);
    await open(await move("import", "hall", 3, "nail"), 1);
    assert.equal(await value("fifo", number), "4 × 8");
    assert.equal(await value("fifo", number - 1), null);
    const found = await rows(
      "select trim_scale(value)::text as value from valuation.states('fifo', 99) order by 1",
    );
    assert.deepEqual(found, [{ value: "3" }, { value: "6" }]);
    await rows("delete from erp.product where product_number = 'nail'");
    assert.equal((await rows("select from valuation.states('fifo', 99)")).length, 1);
  });

  test("ends a day with the last movement before any of the next day", async () => {
    await rows("insert into erp.merchant (time_zone) values ('Europe/Berlin')");
    const sequences: number[] = [];
    for (let n = 0; n < 4; n++) sequences.push(await move("unknown", "hall", 1));
    const at = async (n: number, moment: string) =>
      rows(
        `alter table ledger.stock_movement disable trigger user;
         update ledger.stock_movement set created_at = '${moment}' where id =
           (select movement_id from ledger.movement_sequence where sequence = ${sequences[n]})`,
      );
    await at(0, "2026-01-01T10:00Z");
    await at(1, "2026-01-01T22:59:59Z");
    await at(2, "2026-01-01T23:00:00Z");
    await at(3, "2026-01-01T12:00Z");
    const cut = async (day: string) =>
      Number((await rows("select valuation.cut($1) as cut", [day]))[0].cut) - sequences[0]!;
    assert.deepEqual([await cut("2025-12-31"), await cut("2026-01-01"), await cut("2026-01-02")], [-1, 1, 3]);
  });
});
