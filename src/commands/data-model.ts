import type { ClientBase } from "pg";

/** Content of a diagram: tables by name, or all tables of a schema. */
interface Topic {
  title: string;
  tables: string[];
}

/**
 * The topics of docs/reference/data-model.md. Tables without a topic come last; link tables follow the first table that they
 * link.
 */
const topics: Topic[] = [
  {
    title: "Products and prices",
    tables: [
      "erp.product",
      "erp.product_image",
      "erp.product_price",
      "erp.product_purchase_price",
      "erp.product_supplier_configuration",
      "erp.product_supplier_price",
      "erp.supplier",
      "erp.currency",
      "erp.exchange_rate",
      "erp.tag",
      "erp.language",
    ],
  },
  {
    title: "Warehouses and places",
    tables: [
      "erp.warehouse",
      "erp.bin_location",
      "erp.location",
      "erp.stock_container",
      "erp.product_warehouse_configuration",
      "erp.product_stock_location_configuration",
    ],
  },
  { title: "Stock and its ledger", tables: ["ledger.*", "erp.batch"] },
  {
    title: "Customers and sales channels",
    tables: [
      "erp.customer",
      "erp.customer_group",
      "erp.salutation",
      "erp.sales_channel",
      "erp.country",
      "erp.payment_method",
    ],
  },
  {
    title: "Orders, quotes and returns",
    tables: [
      "erp.sales_order",
      "erp.sales_order_line_item",
      "erp.quote",
      "erp.quote_line_item",
      "erp.return_order",
    ],
  },
  {
    title: "Fulfillment",
    tables: [
      "erp.shipping_method",
      "erp.fulfillment",
      "erp.fulfillment_line_item",
      "erp.fulfillment_order_fulfillment",
      "erp.fulfillment_order",
      "erp.fulfillment_order_line_item",
      "erp.shipping_label",
    ],
  },
  {
    title: "Documents",
    tables: [
      "erp.document",
      "erp.document_type",
      "erp.number_range",
      "erp.invoice",
      "erp.invoice_line_item",
      "erp.merchant",
    ],
  },
  {
    title: "Purchasing and goods receipts",
    tables: [
      "erp.supplier_order",
      "erp.supplier_order_line_item",
      "erp.goods_receipt",
      "erp.goods_receipt_line_item",
      "erp.stock_valuation_report",
      "erp.admin_user",
    ],
  },
  { title: "Events and webhooks", tables: ["events.*"] },
  { title: "Credentials and administrators", tables: ["auth.*"] },
];

interface Column {
  name: string;
  type: string;
  isPrimary: boolean;
  isForeign: boolean;
  isUnique: boolean;
}

interface Reference {
  to: string;
  columns: string[];
  /** Whether the columns may be null. */
  isOptional: boolean;
  /** Whether at most one row refers to the same row. */
  isUnique: boolean;
}

interface Table {
  name: string;
  columnCount: number;
  /** Columns that are part of a key. */
  keys: Column[];
  references: Reference[];
}

const tablesAndKeys = `
  select n.nspname || '.' || c.relname as name, c.relnatts as "columnCount",
    (select coalesce(json_agg(json_build_object('name', a.attname, 'type', t.typname,
        'isPrimary', k.types @> '{p}', 'isForeign', k.types @> '{f}', 'isUnique', k.types @> '{u}') order by a.attnum), '[]')
     from pg_catalog.pg_attribute a
     join pg_catalog.pg_type t on t.oid = a.atttypid
     cross join lateral (select coalesce(array_agg(contype), '{}') as types from pg_catalog.pg_constraint
       where conrelid = c.oid and a.attnum = any (conkey) and contype in ('p', 'f', 'u')) k
     where a.attrelid = c.oid and a.attnum > 0 and k.types <> '{}') as keys,
    (select coalesce(json_agg(json_build_object('to', fn.nspname || '.' || fc.relname, 'columns', k.names,
        'isOptional', k."isOptional", 'isUnique', exists (select from pg_catalog.pg_constraint u
          where u.conrelid = c.oid and u.contype in ('p', 'u') and u.conkey <@ r.conkey)) order by r.conkey), '[]')
     from pg_catalog.pg_constraint r
     join pg_catalog.pg_class fc on fc.oid = r.confrelid join pg_catalog.pg_namespace fn on fn.oid = fc.relnamespace
     cross join lateral (select array_agg(attname order by attnum) as names, bool_or(not attnotnull) as "isOptional"
       from pg_catalog.pg_attribute where attrelid = c.oid and attnum = any (r.conkey)) k
     where r.conrelid = c.oid and r.contype = 'f') as references
  from pg_catalog.pg_class c
  join api_meta.own_schema s on s.oid = c.relnamespace
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' order by 1`;

const introduction = `# Data model

All tables and their keys. \`npm run schema\` writes this page from the database, and a test compares the two.

A diagram shows the columns that are part of a key: \`PK\` of the primary key, \`UK\` of a unique key, \`FK\` of a foreign key,
with the table that it refers to. Lines show the foreign keys within a diagram, and link tables, by name, as many to many.
What a table or column is for, its comment says: \`\\d+ erp.product\` in psql, or db/schema.sql.
`;

/** The text of docs/reference/data-model.md: an ER diagram for each topic. */
export async function printDataModel(client: ClientBase): Promise<string> {
  const { rows: tables } = await client.query<Table>(tablesAndKeys);
  const links = tables.filter((table) => isLink(table, tables));
  const isNamed = ({ name }: Table, names: string[]) =>
    names.includes(name) || names.includes(`${name.split(".")[0]}.*`);
  const others = tables.filter((table) => !topics.some((topic) => isNamed(table, topic.tables)));
  const drawn = [...topics, { title: "Other tables", tables: others.map(({ name }) => name) }].map(
    (topic) => {
      const entities = tables.filter((table) => isNamed(table, topic.tables) && !links.includes(table));
      const isOwn = (name: string) => entities.some((table) => table.name === name);
      return { ...topic, isOwn, entities, links: links.filter(({ references }) => isOwn(references[0]!.to)) };
    },
  );
  const sections = drawn.map(({ title, isOwn, entities, links }) => {
    const lines = [...entities.flatMap((table) => linesOfEntity(table, isOwn)), ...links.map(lineOfLink)];
    return `\n## ${title}\n\n\`\`\`mermaid\nerDiagram\n${lines.join("\n")}\n\`\`\`\n`;
  });
  return introduction + sections.join("");
}

/** Whether a table only links: it has two foreign keys, and no other table refers to it. */
const isLink = ({ name, columnCount, references }: Table, tables: Table[]): boolean =>
  columnCount === 2 &&
  references.length === 2 &&
  !tables.some((table) => table.references.some(({ to }) => to === name));

const quote = (name: string): string => JSON.stringify(name);

function linesOfEntity({ name, keys, references }: Table, isOwn: (name: string) => boolean): string[] {
  const columns = keys.map((key) => {
    const kinds = [key.isPrimary && "PK", key.isForeign && "FK", key.isUnique && "UK"].filter(Boolean);
    const to = references.filter(({ columns }) => columns.includes(key.name)).map(({ to }) => to);
    return `    ${key.type} ${key.name} ${kinds.join(", ")}${to.length ? ` ${quote(to.join(", "))}` : ""}`;
  });
  const lines = references
    .filter(({ to }) => isOwn(to))
    .map(({ to, isOptional, isUnique }) => {
      return `  ${quote(to)} ${isOptional ? "|o" : "||"}--${isUnique ? "o|" : "o{"} ${quote(name)} : ""`;
    });
  return [`  ${quote(name)} {`, ...columns, "  }", ...lines];
}

const lineOfLink = ({ name, references: [left, right] }: Table): string =>
  `  ${quote(left!.to)} }o--o{ ${quote(right!.to)} : ${name.split(".")[1]}`;
