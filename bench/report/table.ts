/** Prints a Markdown table. The first column has names, the others figures. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = headings.map((_, index) => (index === 0 ? "---" : "---:"));
  return [headings, rule, ...rows].map(line).join("\n");
}
