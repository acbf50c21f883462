import { gid } from "../lib/ids.ts";
import { Dealer } from "./dealer.ts";

/** Books, moves, holds, closes, deletes and counts what is in warehouses. */
export class WarehouseWork extends Dealer {
  // Stock

  async adjust(): Promise<void> {
    const product = this.product();
    const pile = this.chance(4) ? this.pile() : undefined;
    const line = pile
      ? {
          productId: gid("Product", pile.product),
          place: this.placeOf(pile),
          batchId: this.idOf(pile.batch),
          delta: -this.some(pile.units),
        }
      : {
          productId: gid("Product", product.id),
          place: this.place(),
          batchId: this.batchOf(product),
          delta: this.some(40),
        };
    await this.call("stockAdjust", { lines: [line] });
  }
  async set(): Promise<void> {
    const pile = this.pile();
    if (!pile) return;
    const line = {
      productId: gid("Product", pile.product),
      place: this.placeOf(pile),
      batchId: this.idOf(pile.batch),
    };
    if (
      pile.batch === "-" &&
      this.books.piles.some((one) => one.batch !== "-" && one.product === pile.product)
    )
      return;
    await this.call("stockSet", { lines: [{ ...line, quantity: this.random.below(pile.units + 4) }] });
  }
  async transfer(): Promise<void> {
    const pile = this.pile();
    if (!pile) return;
    const line = {
      productId: gid("Product", pile.product),
      source: this.placeOf(pile),
      batchId: this.idOf(pile.batch),
    };
    await this.call("stockTransfer", {
      lines: [{ ...line, destination: this.place(), quantity: this.some(pile.units) }],
    });
  }
  async setState(): Promise<void> {
    const { id } = this.random.oneOf(this.books.facts.bins);
    const stockState = this.random.oneOf(["sellable", "sellable", "quality_control", "damaged"]);
    await this.call("binLocationUpdate", { id: gid("BinLocation", id), stockState });
  }
  async hold(): Promise<void> {
    const batch = this.one(this.books.facts.batches);
    if (!batch) return;
    const id = gid("Batch", batch.id);
    const what = this.random.below(6);
    if (what < 2)
      await this.call("batchHold", {
        ids: [id],
        stockState: this.random.oneOf(["quality_control", "damaged"]),
      });
    else if (what < 5) await this.call("batchRelease", { ids: [id] });
    else
      await this.call("batchUpdate", {
        id,
        bestBeforeDate: this.random.oneOf(["2020-01-01", "2099-01-01", null]),
      });
  }
  async keepSafety(): Promise<void> {
    const input = {
      productId: gid("Product", this.product().id),
      warehouseId: gid("Warehouse", this.warehouse().id),
    };
    await this.call("productWarehouseConfigurationSet", {
      ...input,
      safetyStock: this.random.oneOf([0, 1, 3]),
    });
  }
  async openOrClose(): Promise<void> {
    await this.call("warehouseUpdate", {
      id: gid("Warehouse", this.warehouse().id),
      isStockAvailableForSale: !this.chance(3),
    });
  }
  async replaceThings(): Promise<void> {
    const name = `new-${++this.number}`;
    if (this.chance(3)) {
      const bin = this.random.oneOf(this.books.facts.bins);
      await this.call("binLocationDelete", { id: gid("BinLocation", bin.id) });
      await this.call("binLocationCreate", {
        warehouseId: gid("Warehouse", this.warehouse().id),
        code: name,
      });
    } else if (this.chance(2)) {
      await this.sql("delete from erp.product where id = $1", this.product().id);
      await this.call("productsUpsert", {
        products: [{ productNumber: name, isBatchManaged: this.chance(3) }],
      });
    } else {
      const product = gid("Product", this.product().id);
      await this.call("batchesUpsert", { batches: [{ productId: product, number: name }] });
    }
  }

  // Counts

  async count(): Promise<void> {
    const { facts } = this.books;
    const running = this.one(facts.stocktakes, ({ state }) => !["approved", "cancelled"].includes(state));
    if (!running) {
      const productIds = [gid("Product", this.product().id), gid("Product", this.product().id)];
      const warehouseId = gid("Warehouse", this.warehouse().id);
      await this.call("stocktakeCreate", {
        warehouseId,
        sheets: this.some(2),
        ...(this.chance(2) && { productIds: [...new Set(productIds)] }),
      });
      return;
    }
    const id = gid("Stocktake", running.id);
    const sheet = this.one(facts.sheets, (one) => one.stocktake === running.id && !one.isComplete);
    if (this.chance(12)) return void (await this.call("stocktakeCancel", { id }));
    if (!sheet || this.chance(6)) {
      const name = sheet || !this.chance(4) ? "Approve" : "Recount";
      return void (await this.call(`stocktake${name}`, { id }, this.approver));
    }
    const lines = facts.counts
      .filter((one) => one.sheet === sheet.id && one.quantity === null && !this.chance(4))
      .map((one) => {
        const place = this.placeOf(one as { warehouse: string; bin: string | null });
        if (one.product === null) return { place, isEmpty: true };
        // Counted a while ago, and written down only now
        const then = this.chance(2) ? this.books : (this.earlier.at(-this.some(8)) ?? this.books);
        const there = then.unitsAt(
          one.product,
          one.bin ? `bin_location:${one.bin}` : `warehouse:${one.warehouse}`,
          one.batch ?? "-",
        );
        const quantity = Math.max(0, there + (this.chance(3) ? this.random.below(5) - 2 : 0));
        const countedAt =
          then === this.books || then.facts.clock[0]!.now < running.createdAt
            ? undefined
            : then.facts.clock[0]!.now;
        return {
          place,
          productId: gid("Product", one.product),
          batchId: one.batch && gid("Batch", one.batch),
          quantity,
          countedAt,
        };
      });
    await this.call("stocktakeSheetSubmit", {
      sheetId: gid("StocktakeSheet", sheet.id),
      counterName: "Ann",
      lines,
      isComplete: this.chance(2),
    });
  }
}
