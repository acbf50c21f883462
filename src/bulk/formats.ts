/** Formats of files. */
export type Format = "jsonl" | "csv";
/**
 * Formats of exports. Raw CSV doesn't protect spreadsheets from formulas. A line of an import format is a row with its nested
 * lists, in the form in which imports take it.
 */
export type ExportFormat = Format | "csv_raw" | "import" | "import_csv";
export const isCsv = (format: ExportFormat): boolean => format.includes("csv");
export const isForImport = (format: ExportFormat): boolean => format.startsWith("import");
