import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readImports } from "../../tools/architecture/cruise.ts";
import { withPicture } from "../../tools/architecture/draw.ts";
import { drawRooms } from "../../tools/architecture/picture.ts";
import { floors, folderOf, rooms } from "../../tools/architecture/rooms.ts";
import configuration from "../../tools/architecture/rules.ts";

/** The findings in a tree of files: the names of the rules, with the files that break them. */
async function faultsIn(files: Record<string, string>): Promise<[rule: string, from: string][]> {
  const root = await mkdtemp(join(tmpdir(), "house-"));
  try {
    const all = { "tsconfig.json": "{}", "package.json": "{}", ...files };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(join(root, dirname(path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const folders = [...new Set(Object.keys(files).map((path) => path.split("/")[0]!))];
    const cruised = folders.filter((folder) => !/^(node_modules|package[.]json)$/.test(folder));
    const { summary } = await readImports(cruised, root);
    return summary.violations.map(({ rule, from }) => [rule.name, from]);
  } finally {
    await rm(root, { recursive: true });
  }
}

/** Mistakes, by the rule that must find them. */
const mistakes: Record<string, Record<string, string>> = {
  "no-circles": {
    "src/auth/a.ts": 'import { b } from "./b.ts";\nexport type A = typeof b;\n',
    "src/auth/b.ts": 'import type { A } from "./a.ts";\nexport const b = (a: A): A => a;\n',
  },
  "plugins-by-their-index": {
    "src/versions/a.ts": 'import { b } from "../../plugins/lib/b.ts";\nexport const a = b;\n',
    "plugins/lib/b.ts": "export const b = 1;\n",
  },
  "no-database-in-plans": {
    "plugins/a.ts": 'import type { B } from "../src/postgres/b.ts";\nexport const a = (b: B): B => b;\n',
    "src/postgres/b.ts": "export type B = number;\n",
  },
  "no-tests-in-the-house": {
    "src/lib/a.ts": 'import { b } from "../../test/lib/b.ts";\nexport const a = b;\n',
    "test/lib/b.ts": "export const b = 1;\n",
  },
  "no-tools-in-the-house": {
    "package.json": JSON.stringify({ devDependencies: { tool: "1.0.0" } }),
    "node_modules/tool/package.json": JSON.stringify({ name: "tool", version: "1.0.0", main: "index.js" }),
    "node_modules/tool/index.js": "exports.b = 1;\n",
    "src/lib/a.ts": 'import { b } from "tool";\nexport const a = b;\n',
  },
  "no-dead-ends": { "src/lib/a.ts": 'import { b } from "nowhere";\nexport const a = b;\n' },
  "no-strangers": {
    "src/lib/a.ts": 'import { b } from "../cellar/b.ts";\nexport const a = b;\n',
    "src/cellar/b.ts": "export const b = 1;\n",
  },
};

for (const [rule, files] of Object.entries(mistakes)) {
  test(`${rule} finds its mistake`, async () => {
    const found = (await faultsIn(files)).map(([name]) => name);
    assert.deepEqual([...new Set(found)], [rule]);
  });
}

test("every rule has a mistake that it finds", () => {
  const names = configuration.forbidden!.map(({ name }) => name!);
  const others = names.filter((name) => !name.startsWith("only-down-from-"));
  assert.deepEqual(others.sort(), Object.keys(mistakes).sort());
});

test("a room imports what lies below it, and neither what lies above nor what lies beside", async () => {
  const files = Object.fromEntries(
    rooms.map((room) => [`${folderOf(room)}/index.ts`, "export type T = 1;\n"]),
  );
  const expected: string[] = [];
  for (const [height, floor] of floors.entries()) {
    for (const room of floor) {
      for (const [otherHeight, others] of floors.entries()) {
        for (const other of others) {
          if (other === room) continue;
          const path = `${folderOf(room)}/to-${other.name}.ts`;
          const up = "../".repeat(folderOf(room).split("/").length);
          files[path] = `import type { T } from "${up}${folderOf(other)}/index.ts";\nexport type U = T;\n`;
          if (otherHeight <= height) expected.push(`only-down-from-${room.name} ${path}`);
        }
      }
    }
  }
  const faults = await faultsIn(files);
  const found = faults.filter(([rule]) => rule.startsWith("only-down-from-")).map((fault) => fault.join(" "));
  assert.deepEqual(found.sort(), expected.sort());
});

test("all of src lies in a room", async () => {
  const known = rooms.map(folderOf).filter((folder) => folder.startsWith("src/"));
  assert.deepEqual((await readdir("src")).map((name) => `src/${name}`).sort(), known.sort());
});

test("plugins/ holds plugins and nothing else", async () => {
  const files = (await readdir("plugins")).filter((name) => name.endsWith(".ts") && name !== "index.ts");
  for (const file of files) {
    const exported = Object.keys((await import(`../../plugins/${file}`)) as object);
    assert.ok(
      exported.some((name) => /^(make)?[A-Z]\w*Plugin$|^[a-z]\w*Preset$/.test(name)),
      file,
    );
  }
});

test("docs/explanation/architecture.md shows the rooms as they are; else npm run draw draws them", async () => {
  const text = await readFile("docs/explanation/architecture.md", "utf8");
  assert.equal(text, withPicture(text, drawRooms(await readImports(["src", "plugins"]))));
});
