import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { format } from "prettier";
import { startService } from "../support/service.ts";
import type { TestService } from "../support/service.ts";
import { readExamples, writeAnswers } from "./guide.ts";

// The requests of each guide, run from top to bottom on the demonstration shop, as a reader would. WRITE_ANSWERS=1
// puts what they answer now into the guide.
for (const guide of ["stock"]) {
  const file = new URL(`../../docs/${guide}.md`, import.meta.url);
  const examples = await readExamples(file);

  describe(`docs/${guide}.md`, () => {
    let service: TestService;
    let token: string;
    before(async () => {
      service = await startService({ template: "template_demo" });
      token = await service.token({ read: ["products", "warehouses"], write: ["stocks"] });
    });
    after(() => service.close());

    const answers: string[] = [];
    for (const { request, answer, line } of examples) {
      it(`the request of line ${line} answers what stands below it`, async () => {
        const { body } = await service.ask(token, { query: request }, { version: "2026-06-unstable" });
        answers.push(await format(JSON.stringify(body), { parser: "json", printWidth: 110 }));
        if (!process.env.WRITE_ANSWERS) assert.deepEqual(body, JSON.parse(answer));
      });
    }

    if (process.env.WRITE_ANSWERS) it("has the new answers", () => writeAnswers(file, answers));
  });
}
