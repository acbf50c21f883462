/** Resources that can be imported from files. Each has an upsert mutation, whose input defines the fields. */
export const resources = [
  "products",
  "customers",
  "suppliers",
  "warehouses",
  "orders",
  "batches",
  "quotes",
] as const;
export type Resource = (typeof resources)[number];

export const isResource = (name: unknown): name is Resource => resources.includes(name as Resource);

/** Formats of files. */
export type Format = "jsonl" | "csv";
/** Formats of exports. Raw CSV doesn't protect spreadsheets from formulas. */
export type ExportFormat = Format | "csv_raw";
