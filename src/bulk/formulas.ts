/** The beginning of a text that spreadsheets take for a formula, perhaps behind apostrophes. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;
const number = /^[-+]?\d+(\.\d+)?$/;

/** Returns the cell for a text: with an apostrophe before what a spreadsheet would run. Numbers stay as they are. */
export const cellOf = (text: string): string =>
  formula.test(text) && !number.test(text) ? `'${text}` : text;

/** Returns the text that {@link cellOf} made a cell of. */
export const textOfCell = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
