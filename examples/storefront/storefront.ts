import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Inbox } from "./inbox.ts";
import { Intake } from "./intake.ts";
import { Outlet } from "./outlet.ts";
import { receiver } from "./receiver.ts";
import { Service } from "./service.ts";
import type { Shop } from "./shops/shop.ts";
import { Shopify } from "./shops/shopify.ts";
import { Shopware } from "./shops/shopware.ts";
import { Worker } from "./worker.ts";

function setting(name: string, byDefault?: string): string {
  const value = process.env[name] || byDefault;
  if (value === undefined) throw new Error(`Set ${name}: the README says what it is.`);
  return value;
}

function openShop(): Shop {
  const shop = { url: setting("SHOP_URL").replace(/\/+$/, ""), secret: setting("SHOP_SECRET") };
  if (setting("SHOP") === "shopware") {
    const [clientId, clientSecret] = [setting("SHOP_CLIENT_ID"), setting("SHOP_CLIENT_SECRET")];
    return new Shopware({ ...shop, clientId, clientSecret });
  }
  return new Shopify({
    ...shop,
    token: setting("SHOP_TOKEN"),
    locationId: setting("SHOP_LOCATION_ID"),
    currency: setting("SHOP_CURRENCY", "EUR"),
    taxRate: Number(setting("SHOP_TAX_RATE", "19")),
  });
}

const shop = openShop();
const service = new Service({
  url: setting("SERVICE_URL").replace(/\/+$/, ""),
  clientId: setting("CLIENT_ID"),
  clientSecret: setting("CLIENT_SECRET"),
});
const inbox = new Inbox(setting("INBOX", "inbox.sqlite"));
const pauseMs = Number(setting("PAUSE_MS", "1000"));
const intake = new Intake(shop, service, setting("SALES_CHANNEL_ID"));
const outlet = new Outlet(shop, service);
const workers = [
  new Worker(inbox, "in", intake.handle, pauseMs),
  new Worker(inbox, "out", outlet.handle, pauseMs),
];
const secrets = setting("WEBHOOK_SECRETS").split(/[\s,]+/);
const listener = receiver(shop, secrets, inbox, () => {
  for (const worker of workers) worker.wake();
});
const server = createServer(listener).listen(Number(setting("PORT", "5000")), "127.0.0.1", () => {
  console.log(`listening on port ${(server.address() as AddressInfo).port}`);
});
await Promise.all(workers.map((worker) => worker.run()));
