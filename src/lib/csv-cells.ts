/** The beginning of a text that spreadsheets take for a formula, perhaps after apostrophes. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
const number = /^[-+]?\d+(\.\d+)?$/;

/** Returns the cell for a text, with an apostrophe before a formula. Numbers stay unchanged. */
export const toCell = (text: string): string =>
  formula.test(text) && !number.test(text) ? `'${text}` : text;

/** Returns the text of a cell that {@link toCell} made. */
export const fromCell = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;

/** Returns a line of a CSV file with these cells. */
export const formatRow = (cells: readonly string[]): string =>
  cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",");
