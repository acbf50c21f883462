import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ESLint } from "eslint";
import type { Linter } from "eslint";
import ts from "typescript";

const root = fileURLToPath(new URL("../../", import.meta.url));

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

const text = Object.values(mistakes).join("\n");

/** The rules that find something in the mistakes, as if they were a file's, with the mistake that each finds. */
async function found(file: string): Promise<[rule: string, mistake: string][]> {
  const filePath = `${root}${file}`;
  const [result] = await new ESLint({ cwd: root, overrideConfig: [onlyWith(filePath)] }).lintText(text, {
    filePath,
  });
  const lines = Object.values(mistakes).flatMap((mistake) => mistake.split("\n").map(() => mistake));
  return result!.messages.map(({ ruleId, message, line }) => [ruleId ?? message, lines[line - 1]!]);
}

/** Has types of one file read, with the mistakes in it, instead of all of the project's. */
function onlyWith(file: string): Linter.Config {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [file] }, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (path) => (path === file ? text : readFile(path));
  const programs = [ts.createProgram([file], options, host)];
  return { languageOptions: { parserOptions: { projectService: false, programs } } };
}

for (const file of ["src/lib/signal.ts", "plugins/naming.ts"])
  test(`each rule about types holds in ${file.split("/")[0]}`, async () => {
    const expected = Object.entries(mistakes).map(([rule, mistake]) => [
      `@typescript-eslint/${rule}`,
      mistake,
    ]);
    assert.deepEqual(Object.fromEntries(await found(file)), Object.fromEntries(expected));
  });

test("tests may look into answers without types", async () => {
  assert.deepEqual(await found("test/lib/free-port.ts"), []);
});
