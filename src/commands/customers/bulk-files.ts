import type { ClientBase } from "pg";
import { unpackText } from "../../bulk/chunks.ts";
import type { FoundCustomer } from "./find.ts";

/** A bulk operation whose file has rows about a customer. */
export interface BulkFile {
  id: string;
  kind: string;
  resource: string;
  state: string;
  created_at: Date;
  rows: string[];
}

interface Part {
  id: string;
  number: number;
  content: Buffer;
}

/** Parts of files that are read at a time. */
const page = 20;

/** Bulk operations that have lines about a customer: by id, number, e-mail address, or the order. */
export async function findBulkFiles(
  client: ClientBase,
  { customer, orders, number, email }: FoundCustomer,
): Promise<BulkFile[]> {
  const needles = [customer, ...orders, email].map((needle) => needle.toLowerCase());
  // As a whole cell or value
  const asNumber = new RegExp(`(^|[",;\\t])${RegExp.escape(number)}([",;]|$)`, "m");
  const about = (text: string) =>
    asNumber.test(text) || needles.some((needle) => text.toLowerCase().includes(needle));
  const rows = new Map<string, string[]>();
  let last: Pick<Part, "id" | "number"> = { id: "00000000-0000-0000-0000-000000000000", number: -1 };
  for (;;) {
    const { rows: parts } = await client.query<Part>(
      `select operation_id as id, number, content from bulk.chunk where (operation_id, number) > ($1, $2)
       order by operation_id, number limit ${page}`,
      [last.id, last.number],
    );
    for (const { id, content } of parts) {
      const lines = (await unpackText(content)).split("\n").filter(about);
      if (lines.length > 0) rows.set(id, [...(rows.get(id) ?? []), ...lines]);
    }
    if (parts.length < page) break;
    last = parts.at(-1)!;
  }
  const { rows: operations } = await client.query<Omit<BulkFile, "rows"> & { text: string }>(
    `select o.id, o.kind, o.resource, o.state, o.created_at, concat(o.query, o.variables, (
       select string_agg(concat(r.message, r.details), ' ') from bulk.refusal r where r.operation_id = o.id)) as text
     from bulk.operation o order by o.id`,
  );
  return operations
    .filter(({ id, text }) => rows.has(id) || about(text))
    .map(({ text, ...operation }) => ({ ...operation, rows: rows.get(operation.id) ?? [text] }));
}
