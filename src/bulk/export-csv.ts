import type { ExportQueries } from "./export-query.ts";
import { formatRow, toCell } from "../lib/csv-cells.ts";
import type { Line } from "./export-lines.ts";

/**
 * Makes a writer for the rows of an export as CSV: a column for each field, by its path. Rows of nested lists have columns
 * of their own.
 *
 * @param isRaw whether even texts that a spreadsheet takes for formulas stay unchanged
 */
export function csvWriter({ columns }: Pick<ExportQueries, "columns">, isRaw: boolean) {
  const places = new Map(columns.map((name, index) => [name, index]));
  return {
    header: formatRow(columns),
    lineOf({ values, path }: Line): string {
      const cells: string[] = Array.from({ length: columns.length }, () => "");
      const prefix = path.map((part) => `${part}.`).join("");
      const fill = (object: Line["values"], before: string) => {
        for (const [key, value] of Object.entries(object)) {
          const place = places.get(key === "__parentId" ? key : before + key);
          if (place !== undefined) cells[place] = isRaw ? cellText(value) : toCell(cellText(value));
          else if (typeof value === "object" && value !== null)
            fill(value as Line["values"], `${before}${key}.`);
        }
      };
      fill(values, prefix);
      return formatRow(cells);
    },
  };
}

const cellText = (value: unknown): string => {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : JSON.stringify(value);
};
