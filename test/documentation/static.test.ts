import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, constants } from "node:zlib";
import { startCommand } from "../commands/process.ts";
import { openTestDatabase } from "../lib/database.ts";
import type { TestDatabase } from "../lib/database.ts";

let database: TestDatabase;
let folder: string;
const files = new Map<string, string>();
before(async () => {
  database = await openTestDatabase("template_schema");
  folder = await mkdtemp(join(tmpdir(), "documentation-"));
  const command = startCommand(["docs", folder], { DATABASE_URL: database.ownerUrl });
  assert.equal(await command.ended, 0, command.output());
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path.slice(folder.length + 1), await readFile(path, "utf8"));
  }
});
after(async () => {
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const documents = () => [...files].filter(([name]) => name.endsWith(".html"));

test("npx erp docs writes every page as a file, and every link leads to one", () => {
  assert.ok(documents().length > 800, `${documents().length}`);
  const ids = new Map(
    documents().map(([name, text]) => [name, new Set(text.matchAll(/ id="([^"]+)"/g).map(([, id]) => id))]),
  );
  const dead: string[] = [];
  for (const [name, text] of documents()) {
    for (const [, address] of text.matchAll(
      / (?:href|src|data-search|data-engine|data-library)="([^"]*)"/g,
    )) {
      if (/^https?:/.test(address!)) continue;
      const [file = "", hash] = address!.split("#");
      const target = file === "" ? name : posix.join(posix.dirname(name), file);
      if (!files.has(target)) dead.push(`${name}: ${address}`);
      else if (hash && target.endsWith(".html") && !ids.get(target)!.has(decodeURIComponent(hash)))
        dead.push(`${name}: ${address}, which has no such part`);
    }
  }
  assert.deepEqual(dead.slice(0, 20), []);
});

test("pages as Markdown, their index and the feed lead to files, too", () => {
  const texts = [...files].filter(([name]) => /\.(md|txt)$/.test(name));
  assert.ok(texts.length > 50 && files.has("llms.txt") && files.has("llms-full.txt"));
  const dead = texts.flatMap(([name, text]) =>
    [...text.replace(/^```[^]*?^```$/gm, "").matchAll(/\]\(([^)#]+)[^)]*\)/g)]
      .map(([, address]) => address!)
      .filter((address) => !/^https?:/.test(address))
      .filter((address) => !files.has(posix.join(posix.dirname(name), address)))
      .map((address) => `${name}: ${address}`),
  );
  assert.deepEqual(dead, []);
  assert.match(files.get("changelog.atom")!, /rel="alternate" type="text\/html" href="changelog\.html#/);
});

test("what the search finds is there", () => {
  const { entries } = JSON.parse(files.get("unstable/search.json")!) as {
    entries: [string, string, string][];
  };
  assert.ok(entries.length > 1_000);
  for (const [title, , path] of entries) {
    const [file, hash] = path.split("#");
    assert.ok(files.get(file!)?.includes(hash ? `id="${hash}"` : "<h1>"), `${title}: ${path}`);
  }
});

test("no page is larger than 100 kB as a browser gets it, with style and script", () => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
  const size = (text: string) => brotliCompressSync(text, { params }).length;
  const shared = ["assets/style.css", "assets/script.js"].map((name) => size(files.get(name)!));
  const ofAll = shared.reduce((sum, each) => sum + each, 0);
  assert.ok(ofAll < 15_000, `${ofAll}`);
  const forSearch = ["assets/search.js", "assets/minisearch.js", "unstable/search.json"];
  const ofSearch = forSearch.reduce((sum, name) => sum + size(files.get(name)!), 0);
  assert.ok(ofSearch < 225_000, `${ofSearch} for the search, once`);
  const large = documents().filter(([, text]) => text.length > 200_000 || size(text) + ofAll > 100_000);
  assert.deepEqual(
    large.map(([name]) => name),
    [],
  );
});
