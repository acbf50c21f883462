import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { Random } from "../lib/random.ts";
import type { MutateOptions, Shop } from "../lib/shop.ts";
import { assertLedgerIsRight, openShop, refusals } from "../lib/shop.ts";
import { Stocktakes } from "../lib/stocktakes.ts";

/**
 * People count while others move goods, through two processes. The model is the warehouse itself: what really lies in
 * each place, and by how many units each last count was wrong. When all is approved, the ledger must say what lies
 * there, plus the mistakes of the last counts.
 */
const firstSeed = Number(process.env.SEED ?? 7);
const seeds = Number(process.env.STOCKTAKE_SEEDS ?? 2);
const steps = Number(process.env.STOCKTAKE_STEPS ?? 12);

let shop: Shop;
let takes: Stocktakes;
let processes: NonNullable<MutateOptions["process"]>[];
before(async () => {
  shop = await openShop();
  takes = await Stocktakes.open(shop);
  processes = [shop, await shop.another()];
});
after(() => shop.close());

const places = ["A-1", "A-2", "hall"];
const people = ["Ada", "Bob", "Cem"];
interface Task {
  sheetId: string;
  round: number;
  key: string;
}

for (let n = 0; n < seeds; n++)
  it(`keeps the stock right, seed ${firstSeed + n}`, async () => {
    const random = new Random(firstSeed + n);
    const options = () => ({ process: random.oneOf(processes) });
    await shop.emptyTables("erp.stocktake");
    await shop.empty();
    /** What really lies in each place, by product and place. */
    const real = new Map<string, number>();
    const lines: object[] = [];
    for (const place of places)
      for (const product of ["hammer", "nail", "glue"]) {
        const key = `${product} ${place}`;
        const quantity = random.below(4) === 0 ? 0 : 20 + random.below(100);
        if (quantity > 0) lines.push(line(key, quantity));
        // Books and shelves differ
        real.set(key, Math.max(0, quantity + (random.below(2) === 0 ? 0 : random.below(21) - 10)));
      }
    assert.deepEqual((await shop.mutate("stockSet", { lines })).userErrors, []);
    const id = await takes.make({ sheets: 1 + random.below(3), recountUnits: 8 });

    /** Errors of the last counts, and who counted first. */
    const mistakes = new Map<string, number>();
    const firstBy = new Map<string, string>();
    /** Counts that were made and not yet sent. */
    let unsent: { sheetId: string; person: string; lines: object[] }[] = [];

    const move = async (): Promise<void> => {
      const product = random.oneOf(["hammer", "nail", "glue"]);
      const [source, destination] = [random.oneOf(places), random.oneOf(places)];
      const from = `${product} ${source}`;
      const quantity = 1 + random.below(6);
      if (source === destination || real.get(from)! < quantity) return;
      // Reserved at once, so that moves at the same time don't take what isn't there
      real.set(from, real.get(from)! - quantity);
      const more = { quantity, ...(product === "glue" && { batchId: shop.id.G1 }) };
      const moved = await shop.mutate(
        "stockTransfer",
        { lines: [shop.move(product, source, destination, more)] },
        options(),
      );
      const to = moved.userErrors.length > 0 ? from : `${product} ${destination}`;
      if (moved.userErrors.length > 0) assert.equal(refusals(moved)[0]![0], "INSUFFICIENT_STOCK");
      real.set(to, real.get(to)! + quantity);
    };
    /** Counts what lies there now; mistakes are never too small, so that no later move takes more than was counted. */
    const countNow = async ({ sheetId, round, key }: Task): Promise<void> => {
      const countedAt = await shop.ago("0 seconds");
      const mistake = random.below(5) > 0 ? 0 : round === 1 ? random.oneOf([1, 30]) : 1;
      const person = round === 1 ? random.oneOf(people) : people.find((name) => name !== firstBy.get(key))!;
      if (round === 1) firstBy.set(key, person);
      mistakes.set(key, mistake);
      unsent.push({ sheetId, person, lines: [line(key, real.get(key)! + mistake, { countedAt })] });
    };
    const send = async ({ sheetId, person, lines }: (typeof unsent)[number]): Promise<void> => {
      const sent = await takes.submit(sheetId, person, lines, {}, options());
      assert.deepEqual(sent.userErrors, []);
    };
    const tasks = async (): Promise<Task[]> =>
      (await takes.sheets(id)).flatMap(({ id: sheetId, round, counts, completedAt }) =>
        completedAt === null
          ? counts
              .filter(({ quantity }) => quantity === null)
              .map(({ product, place }) => ({ sheetId, round, key: `${product} ${place}` }))
          : [],
      );

    /** Counts all open tasks, among moves, and sends the counts late, in any order, some twice. */
    const countRound = async (): Promise<void> => {
      const open = random.rounds(await tasks());
      const total = (await tasks()).length;
      for (let step = 0; step < Math.max(total, steps); step++) {
        if (step < total) await countNow(open.next().value);
        const sending = unsent.filter(() => random.below(3) === 0);
        const again = sending.filter(() => random.below(4) === 0);
        unsent = unsent.filter((one) => !sending.includes(one) || again.includes(one));
        await Promise.all([...sending.map(send), move(), move(), move()]);
      }
      await Promise.all([...unsent.map(send), move()]);
      unsent = [];
      const due = (await takes.sheets(id)).filter(({ completedAt }) => completedAt === null);
      await Promise.all(
        due.map(async (sheet) => {
          const done = await takes.submit(
            sheet.id,
            random.oneOf(people),
            [],
            { isComplete: true },
            options(),
          );
          assert.deepEqual(done.userErrors, []);
        }),
      );
    };

    await countRound();
    const beyond = (await takes.positions(id)).filter(({ state }) => state === "beyond_bound");
    for (const { difference } of beyond) assert.ok(Math.abs(difference!) > 8);
    if (beyond.length > 0) {
      assert.deepEqual(refusals(await takes.approve(id)), [["RECOUNT_REQUIRED", "lineIds"]]);
      assert.deepEqual((await takes.recount(id)).userErrors, []);
      await countRound();
    }
    const before = await shop.movements();
    const [approved, other] = await Promise.all([
      takes.approve(id, {}, options()),
      takes.approve(id, {}, options()),
      move(),
      move(),
    ]);
    const codes = [approved, other].map((answer) => refusals(answer)[0]?.[0] ?? "approved").sort();
    assert.deepEqual(codes, ["INVALID_STATE_TRANSITION", "approved"]);
    await Promise.all([move(), move()]);
    assert.equal((await takes.state(id)).state, "approved");

    const positions = await takes.positions(id);
    const booked = positions.filter((position) => position.booked !== 0).length;
    assert.ok((await shop.movements()) - before <= booked + 4, "nothing is booked twice");
    for (const { product, place } of positions) {
      const key = `${product} ${place}`;
      assert.equal(await shop.stockAt(product!, place), real.get(key)! + mistakes.get(key)!, key);
    }
    await assertLedgerIsRight(shop);
  });

/** Makes a line of a sheet or of stockSet. */
function line(key: string, quantity: number, more: object = {}): object {
  const [product = "", place = ""] = key.split(" ");
  return takes.line(place, product, quantity, {
    ...(product === "glue" && { batchId: shop.id.G1 }),
    ...more,
  });
}
