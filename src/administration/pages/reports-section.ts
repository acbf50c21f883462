import type { PoolClient } from "pg";
import { formatRow, toCell } from "../../lib/csv-cells.ts";
import { html, linkList, table } from "../../html/html.ts";
import type { Content, Html } from "../../html/html.ts";
import { day, moment, resourceName } from "../formats.ts";
import { field, queryParameter } from "../forms.ts";
import type { FieldErrors } from "../forms.ts";
import { requireFound } from "../problem.ts";
import type { PageOrRedirect, Section } from "../section.ts";
import { callForRows } from "../visit.ts";
import type { Visit } from "../visit.ts";
import { pictures } from "./report-pictures.ts";
import type { ReportRow } from "./report-pictures.ts";

/** A parameter or a column of a report. `type` is a Postgres type. */
export interface ReportField {
  name: string;
  type: string;
  hint: string | null;
}

/** A report for merchants: a function administration.report_… of the database. */
interface Report {
  name: string;
  title: string;
  description: string;
  picture: keyof typeof pictures | null;
  parameters: ReportField[];
  columns: ReportField[];
}

/** Most rows of a page, and of a file. */
const maxRows = 200;
const maxRowsOfFile = 100_000;

/** Reports for merchants. The database has them all: a new one needs only a function there. */
export const reportsSection: Section = {
  title: "Reports",
  path: "/reports",
  pages: () => ({
    "GET /": async (visit) => {
      const reports = await visit.run(readReports);
      const links = reports.map(
        ({ name, title, description }) =>
          [html`<a href="/admin/reports/${name}">${title}</a>`, description] as const,
      );
      return { title: "Reports", body: linkList(links) };
    },
    "GET /:name": reportPage,
  }),
};

const readReports = (client: PoolClient): Promise<Report[]> => callForRows<Report>(client, "reports()");

/** Shows a report with its form, or sends it as a file if the query parameter `format` is csv or jsonl. */
async function reportPage(visit: Visit, name: string): Promise<PageOrRedirect | null> {
  const format = queryParameter(visit, "format");
  const isFile = format === "csv" || format === "jsonl";
  const reports = await visit.run(readReports);
  const report = requireFound(reports.find((one) => one.name === name));
  const { title, description } = report;
  const values = report.parameters.map((parameter) => queryParameter(visit, parameter.name).trim() || null);
  try {
    const rows = await visit.run((client) =>
      readRows(client, report, values, isFile ? maxRowsOfFile : maxRows),
    );
    if (isFile) return sendFile(visit, report, rows, format);
    const body = html`<p class="lead">${description}</p>
      ${report.parameters.length > 0 && reportForm(report, values)} ${rowsOfReport(visit, report, rows)}`;
    return { title, body };
  } catch (error) {
    const message = refusalOf(error);
    if (message === null) throw error;
    const [first] = report.parameters;
    const errors = { [first!.name]: message };
    return { title, errors, body: reportForm(report, values, errors) };
  }
}

const readRows = async (
  client: PoolClient,
  { name, parameters }: Report,
  values: readonly (string | null)[],
  limit: number,
): Promise<ReportRow[]> => {
  const places = parameters.map(({ name, type }, index) => `${name} => $${index + 2}::text::${type}`);
  // The names come from the database's list of its own functions
  const { rows } = await client.query<{ row: ReportRow }>(
    `select to_jsonb(r) as row from administration.report_${name}(${[...places, "how_many => $1"].join()}) r`,
    [limit + 1, ...values],
  );
  return rows.map(({ row }) => row);
};

/** Returns what is wrong with the parameters, or null if the error has another cause. */
function refusalOf(error: unknown): string | null {
  if (!(error instanceof Error && "code" in error)) return null;
  // invalid_text_representation, invalid_datetime_format, datetime_field_overflow, character_not_in_repertoire
  if (["22P02", "22007", "22008", "22021"].includes(String(error.code)))
    return "Enter a valid value, such as 2026-01-31 for a day.";
  return String(error.code).startsWith("UE") ? error.message : null;
}

const reportForm = (
  { parameters }: Report,
  values: readonly (string | null)[],
  errors: FieldErrors = {},
): Html =>
  html`<form method="get" class="card" novalidate>
    ${parameters.map(({ name, type, hint }, index) =>
      field({
        ...{
          name,
          label: resourceName(name),
          type: type === "date" ? "date" : "text",
          hint: hint ?? undefined,
        },
        ...{ value: values[index] ?? "", errors, autocomplete: "off", isOptional: true },
      }),
    )}
    <div class="actions"><button class="main">Show</button></div>
  </form>`;

function rowsOfReport(visit: Visit, report: Report, rows: readonly ReportRow[]): Content {
  if (rows.length === 0) return html`<p>There is nothing to show.</p>`;
  const shown = rows.slice(0, maxRows);
  const linkTo = (format: string, title: string) => {
    const address = new URL(visit.request.originalUrl, visit.origin);
    address.searchParams.set("format", format);
    return html`<a class="button" href="${address.pathname}${address.search}">${title}</a>`;
  };
  return html`${report.picture && pictures[report.picture](shown)}
    ${table(
      `Table of ${report.title}`,
      report.columns.map(({ name, type }) =>
        isNumber(type) ? { number: resourceName(name) } : resourceName(name),
      ),
      shown.map((row) => report.columns.map((column) => cell(column, row[column.name] ?? null))),
    )}
    ${rows.length > maxRows && html`<p>These are the first ${maxRows} rows. A file has all.</p>`}
    <div class="actions">${linkTo("csv", "Download CSV")} ${linkTo("jsonl", "Download JSON lines")}</div>`;
}

const isNumber = (type: string): boolean => /^(integer|bigint|numeric)/.test(type);

function cell({ type }: ReportField, value: ReportRow[string]): Content {
  if (value === null) return "–";
  if (type.startsWith("timestamp")) return moment(new Date(String(value)));
  if (type === "date") return day(new Date(String(value)));
  return isNumber(type) ? Number(value).toLocaleString("en-GB", { maximumFractionDigits: 6 }) : String(value);
}

function sendFile(
  { response }: Visit,
  { name, columns }: Report,
  rows: readonly ReportRow[],
  format: "csv" | "jsonl",
): null {
  const names = columns.map((column) => column.name);
  const lines =
    format === "jsonl"
      ? rows.map((row) => JSON.stringify(row))
      : [names, ...rows.map((row) => names.map((name) => toCell(String(row[name] ?? ""))))].map(formatRow);
  response.attachment(`${name}.${format}`).type(format === "csv" ? "text/csv" : "application/x-ndjson");
  response.send(`${lines.join("\n")}\n`);
  return null;
}
