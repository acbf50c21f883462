import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startCommand, temporaryFolder } from "../commands/process.ts";
import type { CommandProcess } from "../commands/process.ts";
import { uuidOf } from "../lib/ids.ts";
import { until } from "../lib/until.ts";
import { openLabelShop } from "./support.ts";
import type { LabelShop } from "./support.ts";

describe("a service that is killed between its carrier and its database", () => {
  let shop: LabelShop;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: CommandProcess;
  before(async () => {
    folder = await temporaryFolder();
    shop = await openLabelShop(join(folder.path, "labels.jsonl"));
  });
  after(async () => {
    service.kill("SIGKILL");
    await service.ended;
    await shop.close();
    await folder.remove();
  });

  const start = async () => {
    service = startCommand(["start"], { DATABASE_URL: shop.loginUrl, CARRIER_ALLOW: "127.0.0.1" });
    await service.said(/The API is at/);
  };

  it("leaves one label, which the next one finds", async () => {
    const { order } = await shop.newOrder();
    shop.carrier.faults.push((request, response) => {
      // The label is made and stored; its answer never arrives
      response.end = (() => (service.kill("SIGKILL"), response)) as typeof response.end;
      shop.carrier.usual(request, response);
    });
    const [id] = await shop.request({ orderId: order });
    await start();
    assert.equal(await service.ended, null);
    assert.equal((await shop.label(id!)).state, "requested");
    const { trackingCode } = shop.carrier.labels.get(uuidOf(id!))!;

    await start();
    // The lease of the killed process holds: nobody calls meanwhile
    assert.deepEqual(shop.carrier.calls, ["POST /labels"]);
    await shop.hurry();
    const { trackingCodes, documentUrl } = await shop.becomes(id!, "created");
    assert.deepEqual(trackingCodes, [trackingCode]);
    assert.deepEqual(shop.carrier.calls, ["POST /labels", "GET /labels/…"]);
    assert.equal(shop.carrier.labels.valid.length, 1);
    assert.equal((await fetch(new URL(documentUrl, shop.url))).status, 200);
    await until(async () => (await shop.sql("select from erp.shipping_label_work")).length === 0);
  });
});
