import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { format } from "oxfmt";
import { buildSchema } from "postgraphile/graphql";
import type { GraphQLEnumType } from "postgraphile/graphql";
import { errorCodes } from "../../src/errors/api-error.ts";

const file = new URL("../../docs/reference/errors.md", import.meta.url);
const schema = buildSchema(await readFile(new URL("../../schema/unstable.graphql", import.meta.url), "utf8"));

const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const tableOf = (codes: string) =>
  table(
    ["Code", "What happened"],
    (schema.getType(codes) as GraphQLEnumType)
      .getValues()
      .map(({ name, description }) => [`\`${name}\``, description!.replaceAll("\n", " ")]),
  );

const tables: Record<string, string> = {
  graphql: table(
    ["Code", "Status", "Retryable", "What happened, and what to do"],
    Object.entries(errorCodes).map(([code, { status, retryable, meaning }]) => {
      return [`\`${code}\``, status, retryable ? "yes" : "no", meaning];
    }),
  ),
  user: tableOf("UserErrorCode"),
  warnings: tableOf("WarningCode"),
};

test("docs/reference/errors.md has every code as it is (WRITE_ANSWERS=1 writes them)", async () => {
  const text = await readFile(file, "utf8");
  const filled = text.replace(/<!-- (\w+) -->\n[^]*?<!-- end -->/g, (_whole, name: string) => {
    return `<!-- ${name} -->\n\n${tables[name]}\n\n<!-- end -->`;
  });
  const { code: expected } = await format("errors.md", filled, { printWidth: 110 });
  if (process.env.WRITE_ANSWERS) await writeFile(file, expected);
  assert.equal(await readFile(file, "utf8"), expected);
});
