import assert from "node:assert/strict";
import { it } from "node:test";
import { ablatedServices } from "../../bench/contestants/ablations.ts";
import { limit, sameFunction } from "../../bench/contestants/limit.ts";
import { peers } from "../../bench/contestants/peers.ts";
import { serviceContestant } from "../../bench/contestants/service.ts";
import { writeNames } from "../../bench/queries/writes.ts";

const place = {
  product: "018fd2d0-081f-73dc-8edd-7c7360cdaaf2",
  bin: "018fd2d0-0804-7444-81ae-407535f90524",
};

it("who answers mutations makes requests of them, new ones each time", () => {
  for (const { name, answers, write } of [
    serviceContestant,
    limit,
    sameFunction,
    ...peers,
    ...ablatedServices,
  ]) {
    if (!writeNames.some((query) => answers.includes(query))) continue;
    const request = write!({ more: [place] });
    assert.match(request.path + request.body!, new RegExp(place.product.slice(-12)), name);
    assert.notEqual(request.body, request.body, name);
  }
});

it("an answer is right that books as many lines as were asked, or the stock that was set", () => {
  const right = (contestant: typeof serviceContestant, answer: unknown, status = 200) => {
    const request = contestant.write!({ more: [place] });
    // It is sent twice, and asks for 1,001 and 1,002 in stock where that is set
    void [request.body, request.body];
    return request.isRight(status, Buffer.from(JSON.stringify(answer)));
  };
  const [vendure, medusa] = ["vendure", "medusa"].map((name) => peers.find((peer) => peer.name === name)!);
  const booked = (stockMovements: unknown[], userErrors: unknown[] = []) => ({
    data: { stockAdjust: { stockMovements, userErrors } },
  });
  const found = (stockOnHand: number) => ({
    data: { updateProductVariants: [{ stockLevels: [{ stockOnHand }] }] },
  });
  const item = (stocked_quantity: number) => ({ inventory_item: { stocked_quantity } });
  assert.ok(right(serviceContestant, booked([{}])));
  assert.ok(!right(serviceContestant, booked([])));
  assert.ok(!right(serviceContestant, booked([{}], [{}])));
  assert.ok(!right(serviceContestant, booked([{}]), 500));
  for (const [peer, form] of [[vendure!, found] as const, [medusa!, item] as const]) {
    assert.deepEqual(
      [1_000, 1_001, 1_002, 1_003].map((stock) => right(peer, form(stock))),
      [false, true, true, false],
    );
    assert.ok(!right(peer, form(1_002), 500));
  }
});
