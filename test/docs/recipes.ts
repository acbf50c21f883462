import { readFile } from "node:fs/promises";

/** A recipe of docs/guides/changing-columns.md: the migrations that it consists of, in their order. */
export interface Recipe {
  name: string;
  steps: string[];
}

/** The recipes for changing tables while everybody works. */
export async function readRecipes(): Promise<Recipe[]> {
  const text = await readFile(new URL("../../docs/guides/changing-columns.md", import.meta.url), "utf8");
  return text
    .split(/^## /m)
    .filter((part) => part.includes("```sql"))
    .map((part) => ({
      name: part.slice(0, part.indexOf("\n")),
      steps: [...part.matchAll(/```sql\n([^]*?)```/g)].map(([, sql]) => sql!),
    }));
}
