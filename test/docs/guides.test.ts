import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { format } from "oxfmt";
import { versions } from "../../src/versions/versions.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { IdsOfGuide, readExamples, writeExamples } from "./guide.ts";

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
  "docs/guides/purchasing.md": {
    read: ["products", "suppliers", "warehouses", "stocks", "currencies"],
    write: ["supplier_orders", "goods_receipts"],
  },
  "docs/guides/shipping.md": {
    read: ["products", "fulfillment_orders", "stocks", "documents", "warehouses"],
    write: ["orders"],
  },
  "docs/guides/loading.md": { read: ["currencies"], write: ["products"], version: "unstable" },
  "docs/guides/webhooks.md": {
    read: ["orders", "products"],
    write: ["webhook_subscriptions", "all_webhook_subscriptions"],
    version: "unstable",
  },
};

// The requests of each guide, run from top to bottom on the demonstration shop, as a reader would. WRITE_ANSWERS=1
// writes the present answers into the guide.
for (const [guide, { version = "2026-06-unstable", ...scopes }] of Object.entries(guides)) {
  const file = new URL(`../../${guide}`, import.meta.url);
  const examples = await readExamples(file);

  describe(guide, () => {
    let service: TestService;
    let token: string;
    before(async () => {
      service = await startService({
        versions: versions.filter(({ slug }) => slug === version),
        template: "template_demo",
      });
      token = await service.token(scopes);
    });
    after(() => service.close());

    const ids = new IdsOfGuide();
    const written: { request: string; answer: string }[] = [];
    for (const example of examples) {
      it(`the request of line ${example.line} answers what stands below it`, async () => {
        const query = ids.translate(example.request);
        const { body } = await service.ask(token, { query }, { version });
        delete body.extensions; // the cost, which docs/reference/limits.md explains
        ids.learn(JSON.parse(example.answer), body);
        const { code: answer } = await format("answer.json", JSON.stringify(body), { printWidth: 110 });
        written.push({ request: query, answer });
        if (!process.env.WRITE_ANSWERS) assert.deepEqual(body, JSON.parse(ids.translate(example.answer)));
      });
    }

    if (process.env.WRITE_ANSWERS) it("has the new answers", () => writeExamples(file, written));
  });
}
