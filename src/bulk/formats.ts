/** Formats of files. */
export type Format = "jsonl" | "csv";
/** Formats of exports. Raw CSV doesn't protect spreadsheets from formulas. */
export type ExportFormat = Format | "csv_raw";
