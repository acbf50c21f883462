import { readFile } from "node:fs/promises";

/** Checks heads as docs/guides/valuation.md tells auditors to, by its own code. Fails with what is wrong. */
export type Audit = (
  heads: readonly { signature: string }[],
  keys: readonly object[],
  hashes: Record<number, string>,
) => Promise<void>;

/** Reads the code from the guide. Only `jose` is found from here. */
export async function readAudit(): Promise<Audit> {
  const guide = await readFile(new URL("../../docs/guides/valuation.md", import.meta.url), "utf8");
  const code = /```ts\n([^`]*export async function audit[^`]*(?:`[^`\n]+`[^`]*)*?)```/.exec(guide)![1]!;
  const found = code.replace('"jose"', JSON.stringify(import.meta.resolve("jose")));
  const module = (await import(`data:text/javascript,${encodeURIComponent(found)}`)) as { audit: Audit };
  return module.audit;
}
