import type { ClientBase } from "pg";

const rights = (list: string, kind: string, owner: string) =>
  `(select string_agg(format('%s:%s', case a.grantee when 0 then 'public' else a.grantee::regrole::text end, a.privilege_type), ' '
      order by a.grantee::regrole::text, a.privilege_type) from aclexplode(coalesce(${list}, acldefault('${kind}', ${owner}))) a)`;

/** One row for each object of our schemas, with all its properties. */
const catalogue = `
with own as (
  select oid, nspname, nspowner, nspacl from pg_namespace where nspname !~ '^(pg_|information_schema$|graphile_migrate$|public$)'
), relation as (
  select c.* from pg_class c join own o on o.oid = c.relnamespace
)
select 'schema' as kind, nspname::text as name, concat_ws(' | ', nspowner::regrole, ${rights("nspacl", "n", "nspowner")}, obj_description(oid, 'pg_namespace')) as definition
from own
union all
select 'relation ' || relkind::text, oid::regclass::text, concat_ws(' | ', relowner::regrole, relrowsecurity, relforcerowsecurity, reloptions::text,
  case when relkind in ('r', 'p', 'v') then ${rights("relacl", "r", "relowner")} end, obj_description(oid, 'pg_class'),
  case relkind when 'v' then pg_get_viewdef(oid) when 'i' then pg_get_indexdef(oid) end)
from relation
union all
select 'column', r.oid::regclass || '.' || a.attname, concat_ws(' | ', row_number() over (partition by r.oid order by a.attnum),
  format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid),
  ${rights("a.attacl", "c", "r.relowner")}, col_description(r.oid, a.attnum))
from relation r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
where r.relkind <> 'i'
union all
select 'constraint', c.conrelid::regclass || '.' || c.conname, concat_ws(' | ', pg_get_constraintdef(c.oid), c.convalidated, obj_description(c.oid, 'pg_constraint'))
from pg_constraint c join relation r on r.oid = c.conrelid
union all
select 'policy', p.polrelid::regclass || '.' || p.polname, concat_ws(' | ', p.polcmd, p.polpermissive, p.polroles::regrole[]::text,
  pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
from pg_policy p join relation r on r.oid = p.polrelid
union all
select 'trigger', t.tgrelid::regclass || '.' || t.tgname, concat_ws(' | ', pg_get_triggerdef(t.oid), t.tgenabled)
from pg_trigger t join relation r on r.oid = t.tgrelid where not t.tgisinternal
union all
select 'function', p.oid::regprocedure::text, concat_ws(' | ', p.proowner::regrole, ${rights("p.proacl", "f", "p.proowner")}, pg_get_functiondef(p.oid), obj_description(p.oid, 'pg_proc'))
from pg_proc p join own o on o.oid = p.pronamespace
union all
select 'type', t.oid::regtype::text, concat_ws(' | ', t.typtype, t.typowner::regrole, format_type(t.typbasetype, t.typtypmod), t.typnotnull, ${rights("t.typacl", "T", "t.typowner")},
  (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = t.oid),
  (select string_agg(pg_get_constraintdef(c.oid), ',' order by c.conname) from pg_constraint c where c.contypid = t.oid), obj_description(t.oid, 'pg_type'))
from pg_type t join own o on o.oid = t.typnamespace where t.typcategory <> 'A'`;

/** Reads the objects of a database, without rows: name and definition, in any order. */
export async function readCatalogue(client: ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ kind: string; name: string; definition: string }>(catalogue);
  return new Map(rows.map(({ kind, name, definition }) => [`${kind} ${name}`, definition]));
}

/** Describes the differences between two catalogues. */
export function describeDifferences(one: Map<string, string>, other: Map<string, string>): string[] {
  const names = [...new Set([...one.keys(), ...other.keys()])].sort();
  return names
    .filter((name) => one.get(name) !== other.get(name))
    .map((name) => `${name}\n  ${one.get(name) ?? "missing"}\n  ${other.get(name) ?? "missing"}`);
}
