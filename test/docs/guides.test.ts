import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { format } from "oxfmt";
import { fillDemo, defaultUntil } from "../../src/commands/demo.ts";
import { versions } from "../../src/versions/versions.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { GuideReader, readExamples, readLooseRequests, writeExamples } from "./guide.ts";

/** The scopes of a guide's token. */
interface Guide {
  read: string[];
  write: string[];
  /** The version of its requests, if not the first. */
  version?: string;
}
const guides: Record<string, Guide> = {
  "README.md": { read: ["orders", "products"], write: [] },
  "docs/guides/stock.md": { read: ["products", "warehouses"], write: ["stocks"] },
  "docs/guides/bookings.md": {
    read: ["products", "warehouses"],
    write: ["stocks"],
    version: "unstable",
  },
  "docs/guides/past-stock.md": {
    read: ["products", "warehouses", "stocks", "batches"],
    write: [],
    version: "unstable",
  },
  "docs/guides/containers.md": {
    read: ["warehouses", "stocks", "products", "fulfillment_orders"],
    write: ["warehouses", "stocks"],
    version: "unstable",
  },
  "docs/guides/purchasing.md": {
    read: ["products", "suppliers", "warehouses", "stocks", "currencies"],
    write: ["supplier_orders", "goods_receipts"],
  },
  "docs/guides/shipping.md": {
    read: ["products", "fulfillment_orders", "stocks", "documents", "warehouses"],
    write: ["orders"],
  },
  "docs/guides/sourcing.md": {
    read: ["sourcing", "orders", "locations", "warehouses", "fulfillment_orders", "products"],
    write: ["sourcing", "orders"],
    version: "unstable",
  },
  "docs/guides/recalls.md": {
    read: [
      ...[
        "batches",
        "stocks",
        "orders",
        "customers",
        "fulfillment_orders",
        "shipping_labels",
        "goods_receipts",
      ],
      ...["supplier_orders", "suppliers", "products", "warehouses"],
    ],
    write: [],
    version: "unstable",
  },
  "docs/guides/loading.md": { read: ["currencies"], write: ["products"], version: "unstable" },
  "docs/guides/webhooks.md": {
    read: ["orders", "products"],
    write: ["webhook_subscriptions", "all_webhook_subscriptions"],
    version: "unstable",
  },
  "docs/guides/counting.md": {
    read: ["products", "warehouses", "batches", "valuation"],
    write: ["stocktakes", "stocktake_results"],
    version: "unstable",
  },
  "docs/guides/picking.md": {
    read: ["pick_lists", "fulfillment_orders", "warehouses", "products", "batches", "stocks"],
    write: ["pick_lists", "products"],
    version: "unstable",
  },
  "docs/guides/valuation.md": {
    read: ["valuation", "products", "orders", "fulfillment_orders"],
    write: ["valuation"],
    version: "unstable",
  },
  "docs/guides/returns.md": {
    read: ["orders", "stocks", "documents", "products"],
    write: ["return_orders", "goods_receipts", "documents", "orders"],
    version: "unstable",
  },
  "docs/guides/quotes.md": {
    read: ["quotes", "orders", "products"],
    write: ["quotes", "orders", "documents"],
    version: "unstable",
  },
  "docs/guides/labels.md": {
    read: ["orders", "fulfillment_orders", "shipping_labels"],
    write: ["shipping_labels"],
    version: "unstable",
  },
  "docs/guides/invoicing.md": { read: ["documents"], write: ["orders", "customers"], version: "unstable" },
  "docs/guides/promises.md": {
    read: ["products", "warehouses", "orders"],
    write: ["stocks", "supplier_orders"],
    version: "unstable",
  },
  "docs/guides/batches.md": {
    read: ["products", "batches", "stocks", "warehouses"],
    write: ["products", "batches", "stocks", "goods_receipts"],
    version: "unstable",
  },
  "docs/guides/state-of-stock.md": {
    read: ["products", "batches", "stocks", "warehouses", "product_warehouse_configurations"],
    write: ["batches", "stocks", "warehouses"],
    version: "unstable",
  },
  "docs/guides/reordering.md": {
    read: ["products", "warehouses", "suppliers", "stocks", "currencies"],
    write: ["supplier_orders"],
    version: "unstable",
  },
  "docs/guides/master-data.md": {
    read: ["countries", "currencies", "products", "warehouses"],
    write: [
      ...["customer_groups", "payment_methods", "sales_channels", "locations", "tags"],
      ...["product_warehouse_configurations", "product_stock_location_configurations"],
    ],
    version: "unstable",
  },
};

const root = new URL("../../", import.meta.url);
const isWriting = process.env.WRITE_ANSWERS !== undefined;
/** The day of the shop: today, as with `npm start`; for writing, the one whose dates the guides have. */
const until = isWriting ? defaultUntil : new Date(process.env.DAY ?? Date.now());

let service: TestService;
before(async () => {
  service = await startService({ versions });
  await fillDemo({ connectionString: service.ownerUrl, scale: 1, until });
});
after(() => service.close());

// The requests of each guide, run from top to bottom on the demonstration shop, as a reader would, one guide after
// another. WRITE_ANSWERS=1 writes the present answers into the guides; DAY=2026-08-01 runs them on the shop of that day.
for (const [guide, { version = "2026-06-unstable", ...scopes }] of Object.entries(guides)) {
  const file = new URL(guide, root);
  const examples = await readExamples(file);

  describe(guide, () => {
    let token: string;
    before(async () => {
      token = await service.token(scopes);
    });

    const reader = new GuideReader(until);
    const written: { request: string; answer: string }[] = [];
    for (const example of examples) {
      it(`the request of line ${example.line} answers what stands below it`, async () => {
        const query = reader.translate(example.request);
        const { body } = await service.ask(token, { query }, { version });
        delete body.extensions; // the cost, which docs/reference/limits.md explains
        reader.learn(JSON.parse(example.answer), body);
        const { code: answer } = await format("answer.json", JSON.stringify(body), { printWidth: 110 });
        written.push({ request: query, answer });
        if (!isWriting) assert.deepEqual(body, JSON.parse(reader.translate(example.answer)));
      });
    }

    if (isWriting) it("has the new answers", () => writeExamples(file, written));
  });
}

describe("requests without an answer below them", () => {
  const reader = new GuideReader(until);
  /** The only variable that they have. */
  const bin = "gid://service/BinLocation/018fd2d1-8ec9-738a-8704-bb0c119656c1";
  for (const { file, requests } of readLooseRequests(root))
    it(`those of ${file} are right`, async () => {
      const token = await service.token({ read: "all", write: "all" });
      for (const request of requests) {
        const { body, codes, text } = await service.ask(token, {
          query: reader.translate(request),
          variables: { id: bin },
        });
        if (request.includes("…")) {
          // The reader puts an id or a cursor there
          assert.ok(!codes.some((code) => code.startsWith("GRAPHQL_")), `${request}${text}`);
          continue;
        }
        assert.equal(body.errors, undefined, `${request}${text}`);
        for (const answer of Object.values<any>(body.data)) {
          assert.deepEqual(answer.userErrors ?? [], [], request);
          assert.notDeepEqual(answer.edges, [], `${request} finds nothing`);
        }
      }
    });
});
