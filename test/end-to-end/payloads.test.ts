import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { GraphQLField, GraphQLInputType, GraphQLObjectType } from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
} from "postgraphile/graphql";
import pg from "pg";
import { versions } from "../../src/versions/versions.ts";
import { addBulkOperations } from "../lib/bulk-operations.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { committedSchema, listedTypes } from "./schema-walk.ts";

// Every field of every payload, with existing and with deleted objects: between the commit of a mutation and the
// reading of its payload, or before it is repeated, anything may have been deleted.
let service: TestService;
let token: string;
let admin: pg.Client;
before(async () => {
  service = await startService({ versions, template: "template_demo" });
  const credential = await service.credential({ read: "all", write: "all" });
  token = await service.tokenFor(credential);
  await addBulkOperations(service.owner, credential.id);
  admin = new pg.Client({ connectionString: service.adminUrl });
  await admin.connect();
  // Every function returns what the test has prepared
  await admin.query(`
    create table public.answer (payload jsonb not null);
    grant select on public.answer to public;
    create or replace function mutation.run(version name, operation name, input jsonb, idempotency_key text,
      validate_only boolean, refusals jsonb default null, newer_than timestamptz default null) returns jsonb language sql
    begin atomic
      select jsonb_build_object('payload', payload, 'userErrors', '[]'::jsonb, 'warnings', '[]'::jsonb)
      from public.answer;
    end`);
});
after(async () => {
  await admin.end();
  await service.close();
});

const gone = "01980000-0000-7000-8000-000000000000";
const columnOf = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const isNote = ({ name }: { name: string }) => name === "userErrors" || name === "warnings";
const isList = ({ type }: GraphQLField<unknown, unknown>) => isListType(getNullableType(type));

/** Mutations that TypeScript checks before `mutation.run` is called. */
const particular: Record<string, unknown> = {
  topic: "order.created",
  query: "{ products { edges { node { id } } } }",
  url: "https://shop.example/hooks",
  apiVersion: "unstable",
};
const scalars: Record<string, unknown> = {
  Boolean: true,
  Int: 1,
  DateTime: "2026-06-01T00:00:00Z",
  Date: "2026-05-01",
};

/** A valid value for an input, with required fields only. */
async function sampleOf(type: GraphQLInputType, name: string, owner = ""): Promise<unknown> {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [];
  if (isEnumType(nullable)) return nullable.getValues()[0]!.name;
  if (isInputObjectType(nullable)) {
    const sample: Record<string, unknown> = {};
    for (const field of Object.values(nullable.getFields())) {
      if (isNonNullType(field.type))
        sample[field.name] = await sampleOf(field.type, field.name, nullable.name);
    }
    return sample;
  }
  if (getNamedType(nullable).name !== "ID") return particular[name] ?? scalars[nullable.name] ?? "1";
  const { rows } = await admin.query(
    `select substring(col_description(attrelid, attnum) from '@gid (\\w+)') as type from pg_attribute
     where attrelid = $1::regclass and attname = $2`,
    [`api_unstable.${columnOf(owner).slice(1)}`, columnOf(name)],
  );
  return `gid://service/${rows[0].type}/${gone}`;
}

for (const { slug } of versions) {
  const schema = committedSchema(slug);
  const entities = new Map(listedTypes(schema).map(({ type, list }) => [type.name, list]));

  /** The uuid of an object of a type. */
  const anyOf = async (type: string): Promise<string> => {
    const query = `{ ${entities.get(type)}(first: 1) { edges { node { id } } } }`;
    const { body, text } = await service.ask(token, { query }, { version: slug });
    assert.ok(body.data?.[entities.get(type)!].edges[0], `${type}: ${text}`);
    return body.data[entities.get(type)!].edges[0].node.id.split("/").at(-1);
  };

  describe(`payloads of ${slug}`, () => {
    for (const field of Object.values(schema.getMutationType()!.getFields())) {
      const payload = getNamedType(field.type) as GraphQLObjectType;
      const fields = Object.values(payload.getFields()).filter((part) => !isNote(part));
      const shown = fields.filter((part) => entities.has(getNamedType(part.type).name));

      it(`${field.name} shows what is still there`, async () => {
        const selection = fields.map(({ name, type }) => {
          return isLeafType(getNamedType(type)) ? name : `${name} { id }`;
        });
        const input = await sampleOf(field.args[0]!.type, "input");
        const query = `mutation ($input: ${field.args[0]!.type}) {
          ${field.name}(input: $input) { ${selection.join(" ")} userErrors { code } } }`;
        const call = async (row: Record<string, unknown>) => {
          await admin.query("with old as (delete from public.answer) insert into public.answer values ($1)", [
            row,
          ]);
          const { body, text } = await service.ask(token, { query, variables: { input } }, { version: slug });
          assert.equal(body.errors, undefined, text);
          return body.data[field.name];
        };

        const nothing = Object.fromEntries(
          shown.map((part) => [columnOf(part.name), isList(part) ? [gone, gone] : gone]),
        );
        for (const part of shown)
          assert.deepEqual((await call(nothing))[part.name], isList(part) ? [] : null, part.name);

        const there = new Map<string, string>();
        for (const part of shown) there.set(part.name, await anyOf(getNamedType(part.type).name));
        const some = Object.fromEntries(
          shown.map((part) => {
            const id = there.get(part.name)!;
            return [columnOf(part.name), isList(part) ? [gone, id, gone] : id];
          }),
        );
        const answer = await call(some);
        for (const part of shown) {
          const row = { id: `gid://service/${getNamedType(part.type).name}/${there.get(part.name)}` };
          assert.deepEqual(answer[part.name], isList(part) ? [row] : row, part.name);
        }
      });
    }
  });
}
