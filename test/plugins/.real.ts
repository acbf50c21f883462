import { makeSchema } from "postgraphile";
import { makePgService } from "postgraphile/adaptors/pg";
import { grafast } from "postgraphile/grafast";
import { getNamedType, isLeafType, isObjectType } from "postgraphile/graphql";
import { createPreset } from "../../plugins/index.ts";
import { randomOperation } from "./random-operations.ts";
const pgService = makePgService({ connectionString: "postgres://postgres@localhost:55301/" + (process.argv[2] ?? "shop"), schemas: ["x"] });
const t0 = performance.now();
const { schema, resolvedPreset } = await makeSchema({ extends: [createPreset({ pgService, schemaName: "api_2026_06_unstable" })], grafast: { context: (r: any) => r.caller } });
console.log("schema in", performance.now() - t0);
const scopes = new Set<string>();
for (const t of Object.values(schema.getTypeMap())) if (isObjectType(t)) for (const f of Object.values(t.getFields())) for (const s of [...(f.extensions.requiresScopes?.anyOf ?? [])]) scopes.add(s);
const caller = { scopes, requestId: "x", credentialId: null, pgSettings: { role: "service_api", "service.scopes": [...scopes].join(" ") } };
const run = async (source: string) => (await grafast({ schema, source, resolvedPreset, requestContext: { caller } as any })) as any;
let n = 0;
for (const t of Object.values(schema.getTypeMap())) {
  if (!isObjectType(t) || !t.getInterfaces().length) continue;
  const root = Object.values(schema.getQueryType()!.getFields()).find((f) => getNamedType(f.type).name === t.name + "Connection")!;
  for (const f of Object.values(t.getFields())) {
    const target = getNamedType(f.type);
    const sel = isLeafType(target) ? f.name : target.name === "Price" ? `${f.name} { currencyId net gross linked }` : target.name.endsWith("Connection") ? `${f.name} { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }` : `${f.name} { id __typename }`;
    const r = await run(`{ ${root.name} { edges { node { ${sel} } } } }`); n++;
    if (r.errors) console.log(t.name, f.name, r.errors.map((e: any) => e.message));
  }
}
console.log("fields", n);
for (let seed = 1; seed <= 150; seed++) {
  const source = randomOperation({ schema, seed, depth: 3, argument: (_o, f, name, random) => name === "first" ? String(random(3)) : name === "id" ? JSON.stringify("gid://service/" + getNamedType(f.type).name + "/01980000-0000-7000-8004-000000000001") : undefined });
  if (source.length > 8000) continue;
  const r = await run(source);
  const bad = (r.errors ?? []).filter((e: any) => e.extensions.code !== "BAD_USER_INPUT");
  if (bad.length) { console.log(seed, source.length, bad[0].message); }
}
await pgService.release?.();
