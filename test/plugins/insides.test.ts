import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

/** Files of the library whose insides the project relies on, with the file that does, as they were seen last. */
const insides: [file: string, inside: string, seen: string][] = [
  ["plugins/behaviors.ts", "graphile-build/dist/behavior.js", "c61a97c7095418bd"],
  ["plugins/catalog.ts", "graphile-build-pg/dist/plugins/PgIntrospectionPlugin.js", "74656280e34f9756"],
  ["plugins/catalog.ts", "pg-introspection/dist/introspection.js", "23259510383f660a"],
  ["src/versions/make-schema.ts", "graphile-build/dist/SchemaBuilder.js", "60879cb70a633651"],
  ["src/versions/make-schema.ts", "graphile-build/dist/newWithHooks/index.js", "afb43fb00cd33062"],
];

for (const [file, inside, seen] of insides)
  test(`${inside} is as it was seen for ${file}; see docs/internals/upstream.md`, async () => {
    const text = await readFile(new URL(`../../node_modules/${inside}`, import.meta.url));
    assert.equal(createHash("sha256").update(text).digest("hex").slice(0, 16), seen);
  });
