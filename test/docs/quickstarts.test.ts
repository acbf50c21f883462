import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";

const run = promisify(execFile);

/** How the programs of a language are run. */
const programs: Record<string, { command: string; file: string }> = {
  sh: { command: "bash", file: "first.sh" },
  ts: { command: process.execPath, file: "first.ts" },
  python: { command: "python3", file: "first.py" },
  php: { command: "php", file: "first.php" },
};

let service: TestService;
let folder: string;
let env: Record<string, string | undefined>;
before(async () => {
  service = await startService({ template: "template_demo" });
  folder = await mkdtemp(join(tmpdir(), "quickstart-"));
  const { clientId, clientSecret } = await service.credential({ write: ["products"] });
  env = { ...process.env, API: service.url, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
});
after(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** The blocks of a guide, with their languages. */
async function blocksOf(guide: string): Promise<{ language: string; text: string }[]> {
  const source = await readFile(new URL(`../../docs/tutorials/${guide}.md`, import.meta.url), "utf8");
  return [...source.matchAll(/```(\w+)\n([^]*?)```/g)].map(([, language, text]) => {
    return { language: language!, text: text! };
  });
}

/** Why a program can't be run here; false when it can. */
function missing(command: string): string | false {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return `${command} is not installed`;
  }
}

/** Runs a program as its reader would, and returns what it prints. */
async function outputOf({ language, text }: { language: string; text: string }): Promise<string> {
  const { command, file } = programs[language]!;
  const path = join(folder, file);
  await writeFile(path, text);
  const { stdout } = await run(command, [path], { env });
  return stdout;
}

const consumer = await blocksOf("calling-the-api");
const answers = consumer.filter(({ language }) => language === "json").map(({ text }) => JSON.parse(text));

for (const block of consumer.filter(({ language }) => language in programs)) {
  const { command } = programs[block.language]!;
  test(`the ${block.language} program makes a product and reads it`, { skip: missing(command) }, async () => {
    await service.owner.query("delete from erp.product where product_number = 'MUG-1'");
    for (const outcome of ["CREATED", "UNCHANGED"]) {
      const lines = (await outputOf(block)).trim().replaceAll("}{", "}\n{").split("\n");
      const [made, read] = lines.map((line) => JSON.parse(line)).map((answer) => answer.data ?? answer);
      const [expected, found] = structuredClone(answers);
      expected.productsUpsert.results[0].outcome = outcome;
      assert.deepEqual(made, expected);
      const { node } = read.products.edges[0];
      assert.match(node.id, /^gid:\/\/service\/Product\/[0-9a-f-]{36}$/);
      assert.deepEqual({ ...node, id: "" }, { ...found.products.edges[0].node, id: "" });
    }
  });
}

test("there is a program in each of the four languages", () => {
  const languages = consumer.map(({ language }) => language);
  for (const language of Object.keys(programs)) assert.ok(languages.includes(language), language);
});

test("the owner of the database writes a row, reads it by the API, and finds its event", async () => {
  const [insert, read, event, proof] = await blocksOf("owning-the-database");
  await service.owner.query(insert!.text);
  assert.match(await outputOf(read!), /"Mug from SQL"/);
  await until(async () => {
    await service.owner.query("select events.sequence_events(1000)");
    return (await service.owner.query(event!.text)).rows.length > 0;
  });
  const { rows } = await service.owner.query(event!.text);
  assert.deepEqual(rows, [{ topic: "product.created", number: "MUG-2" }]);
  assert.deepEqual((await service.owner.query(proof!.text)).rows, [{ differences: "0" }]);
});

test("a developer adds a field", async () => {
  const [migration, request] = await blocksOf("changing-the-service");
  await service.owner.query(migration!.text);
  assert.deepEqual(await service.app.reload(), ["unstable"]);
  assert.match(await outputOf(request!), / – /);
  const page = await (await fetch(`${service.url}/docs/unstable/types/Product`)).text();
  assert.match(page, /id="label"/);
});
