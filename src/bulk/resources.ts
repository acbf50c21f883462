/** The resources that files can be imported into. Each has an upsert, whose input names the fields. */
export const resources = ["products", "customers", "suppliers", "warehouses", "orders"] as const;
export type Resource = (typeof resources)[number];

export const isResource = (name: unknown): name is Resource => resources.includes(name as Resource);

/** Formats of files. */
export type Format = "jsonl" | "csv";
/** Formats of exports: in raw CSV, nothing keeps spreadsheets from running cells. */
export type ExportFormat = Format | "csv_raw";
