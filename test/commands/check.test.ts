import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";

const root = fileURLToPath(new URL("../../", import.meta.url));
const eslint = new ESLint({ cwd: root });

/** A mistake for each rule. */
const mistakes: Record<string, string> = {
  "no-explicit-any": `export const limits: any = { cost: 1 };`,
  "no-unsafe-assignment": `export const { cost } = JSON.parse("{}");`,
  "no-unsafe-argument": `export const first = Number.parseInt(JSON.parse("[]"));`,
  "no-unsafe-call": `JSON.parse("null")();`,
  "no-unsafe-member-access": `import pg from "pg";
    const { rows } = await new pg.Client().query("select 1 as one");
    if (rows[0].one === 2) throw new Error("two");`,
  "no-unsafe-return": `export const read = () => JSON.parse("{}");`,
};

/** The rules that find something in a text, as if it were that file's. */
async function rulesAgainst(file: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath: `${root}${file}` });
  return result!.messages.map(({ ruleId, message }) => ruleId ?? message);
}

for (const file of ["src/lib/signal.ts", "plugins/naming.ts"]) {
  for (const [rule, text] of Object.entries(mistakes)) {
    test(`${rule} holds in ${file.split("/")[0]}`, async () => {
      assert.deepEqual(new Set(await rulesAgainst(file, text)), new Set([`@typescript-eslint/${rule}`]));
    });
  }
}

test("tests may look into answers without types", async () => {
  for (const text of Object.values(mistakes)) {
    assert.deepEqual(await rulesAgainst("test/lib/free-port.ts", text), []);
  }
});
