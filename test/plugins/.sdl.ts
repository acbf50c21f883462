import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { createPreset } from "../../plugins/index.ts";
import { printSdl } from "../../src/versions/sdl.ts";
import { writeFileSync } from "node:fs";
const pgService = makePgService({ connectionString: "postgres://postgres@localhost:55301/shop" , schemas: ["x"]});
for (const [slug, schemaName] of [["2026-06-unstable", "api_2026_06_unstable"], ["unstable", "api_unstable"]] as const) {
  const { schema } = await makeSchema(createPreset({ pgService, schemaName }));
  writeFileSync(`/tmp/h3/${slug}.graphql`, printSdl(schema));
}
await pgService.release?.();
