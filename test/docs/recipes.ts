import { readFile } from "node:fs/promises";

/** A recipe of docs/evolving.md: the migrations that it consists of, in their order. */
export interface Recipe {
  name: string;
  steps: string[];
}

/** The recipes for changing tables while everybody works. */
export async function readRecipes(): Promise<Recipe[]> {
  const text = await readFile(new URL("../../docs/evolving.md", import.meta.url), "utf8");
  const [section] = /^## Changing columns while everybody works\n[^]*?(?=^## |$(?![^]))/m.exec(text)!;
  return section
    .split(/^### /m)
    .slice(1)
    .map((part) => ({
      name: part.slice(0, part.indexOf("\n")),
      steps: [...part.matchAll(/```sql\n([^]*?)```/g)].map(([, sql]) => sql!),
    }));
}
