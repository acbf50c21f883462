import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { codes, shares, useDock } from "./dock.ts";

// Effects of receipts with negative lines on delivered supplier orders
const dock = useDock();

describe("a correction", () => {
  const state = async (id: string) => {
    const now = await dock.orderNow(id);
    return [now.state, ...now.received, now.actualDeliveryDate !== null];
  };

  it("opens a delivered order again, and what comes then delivers it again", async () => {
    const before = await dock.expected("nail");
    const { id, lines } = await dock.order([
      ["nail", 5],
      ["hammer", 1],
    ]);
    const by = { supplierOrderId: id };
    await dock.receive([dock.line("nail", 5, by), dock.line("hammer", 1, by)]);
    const first = await dock.orderNow(id);
    assert.deepEqual(await state(id), ["delivered", 5, 1, true]);
    assert.equal(await dock.expected("nail"), before);
    await dock.receive([dock.line("nail", -2, by)]);
    assert.deepEqual(await state(id), ["partially_delivered", 3, 1, false]);
    const partly = await dock.orderNow(id);
    assert.deepEqual(
      partly.lines.map((line: any) => line.actualDeliveryDate),
      [null, first.lines[1].actualDeliveryDate],
    );
    assert.equal(await dock.expected("nail"), before + 2);
    await dock.receive([
      dock.line("nail", -3, { supplierOrderLineItemId: lines[0] }),
      dock.line("hammer", -1, by),
    ]);
    assert.deepEqual(await state(id), ["confirmed", 0, 0, false]);
    await dock.receive([dock.line("nail", 5, by), dock.line("hammer", 1, by)]);
    assert.deepEqual(await state(id), ["delivered", 5, 1, true]);
    assert.equal(await dock.expected("nail"), before);
  });

  it("of everything at once leads from delivered to confirmed, where it can be cancelled", async () => {
    const { id } = await dock.order([["nail", 2]]);
    await dock.receive([dock.line("nail", 2, { supplierOrderId: id })]);
    await dock.receive([dock.line("nail", -2, { supplierOrderId: id })]);
    assert.deepEqual(await state(id), ["confirmed", 0, false]);
    await dock.move("Cancel", id);
  });

  it("leaves an order completed that a person completed", async () => {
    const { id } = await dock.order([["nail", 2]]);
    await dock.receive([dock.line("nail", 2, { supplierOrderId: id })]);
    await dock.move("Complete", id);
    const before = await dock.expected("nail");
    await dock.receive([dock.line("nail", -1, { supplierOrderId: id })]);
    assert.deepEqual(await state(id), ["completed", 1, true]);
    assert.equal(await dock.expected("nail"), before);
    await dock.receive([dock.line("nail", 1, { supplierOrderId: id })]);
    assert.deepEqual(await state(id), ["completed", 2, true]);
  });

  it("is shared out over what was received; what never came goes back without an order", async () => {
    const { id, number } = await dock.order([
      ["hammer", 3],
      ["hammer", 2],
    ]);
    const by = { supplierOrderId: id };
    await dock.receive([dock.line("hammer", 4, by)]);
    await dock.receive([dock.line("hammer", -4, by), dock.line("hammer", 1, by)]);
    assert.deepEqual((await dock.orderNow(id)).received, [0, 1]);
    const payload = await dock.receive([dock.line("hammer", -2, by)]);
    assert.deepEqual(shares(payload.goodsReceipt), [
      [-1, true],
      [-1, false],
    ]);
    assert.deepEqual(codes(payload), ["SURPLUS"]);
    assert.match(
      payload.warnings[0].message,
      new RegExp(`^1 of product hammer .* ${number} never received them`),
    );
    assert.deepEqual(await state(id), ["confirmed", 0, 0, false]);
  });

  it("and its replacement in one receipt cancel each other out", async () => {
    const { id } = await dock.order([["nail", 2]]);
    const by = { supplierOrderId: id };
    await dock.receive([dock.line("nail", 2, by)]);
    const { goodsReceipt, warnings } = await dock.receive([
      dock.line("nail", -1, by),
      dock.line("nail", 1, by),
    ]);
    assert.deepEqual(
      [warnings, shares(goodsReceipt)],
      [
        [],
        [
          [-1, true],
          [1, true],
        ],
      ],
    );
    assert.deepEqual(await state(id), ["delivered", 2, true]);
  });
});
