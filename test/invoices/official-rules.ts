import { execFile } from "node:child_process";
import { mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { XMLParser } from "fast-xml-parser";
import { findRuleFiles, MissingRules } from "./rule-files.ts";
import type { RuleFiles } from "./rule-files.ts";
import type { StructuredForm } from "./sample.ts";

/** A rule that a document breaks. */
export interface Finding {
  /** Index of the document. */
  document: number;
  /** Id of the rule; "XSD" for the XML Schema, "XML" if the text isn't well-formed. */
  rule: string;
  /** fatal, warning or information. */
  flag: string;
  text: string;
}

/** Returns the XML Schemas and rules of a form. */
function filesOf(form: StructuredForm, files: RuleFiles): { schemas: string[]; rules: string[] } {
  return form === "xrechnung"
    ? { schemas: [files.schema], rules: [files.en16931, files.xrechnung] }
    : { schemas: [files.schema, files.facturxSchema], rules: [files.en16931, files.facturx] };
}

/** Applies the XML Schema and the rules of a form to XML texts. Throws if the rules are missing. */
export async function findOfficialFaults(
  xmls: string[],
  form: StructuredForm,
  files: RuleFiles = findRuleFiles(),
): Promise<Finding[]> {
  if (xmls.length === 0) return [];
  const folder = await mkdtemp(join(tmpdir(), "invoices-"));
  try {
    const source = join(folder, "xml");
    await mkdir(source);
    await Promise.all(xmls.map((xml, index) => writeFile(join(source, fileName(index)), xml)));
    const { schemas, rules } = filesOf(form, files);
    const invalid: Finding[] = [];
    for (const schema of schemas) {
      invalid.push(...(await applySchema(source, xmls.length, schema, files.xmllint)));
    }
    // Saxon stops at the first text that isn't well-formed
    const broken = new Set(invalid.filter(({ rule }) => rule === "XML").map(({ document }) => document));
    await Promise.all([...broken].map((document) => rm(join(source, fileName(document)))));
    const readable = xmls.map((_, index) => index).filter((index) => !broken.has(index));
    const reports = await Promise.all(
      rules.map(async (rule, index) => {
        const folderOfReports = join(folder, `report-${index}`);
        return applyRules(source, folderOfReports, readable, rule, files);
      }),
    );
    const found = [...invalid, ...reports.flatMap(({ findings }) => findings)];
    // A report without rules that were applied says nothing about a valid document
    const rejected = new Set(found.map(({ document }) => document));
    const unread = reports.flatMap((report) => report.unread.filter((document) => !rejected.has(document)));
    if (unread.length > 0) {
      throw new Error(
        `No rule applied to ${unread.length} documents:\n${reports.map(({ log }) => log).join("\n")}`,
      );
    }
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the ids of the rules that each document breaks, without those that only inform. */
export async function officialFaults(
  xmls: string[],
  form: StructuredForm,
  files: RuleFiles = findRuleFiles(),
): Promise<string[][]> {
  const rules = xmls.map(() => new Set<string>());
  for (const { document, rule, flag } of await findOfficialFaults(xmls, form, files)) {
    if (flag !== "information") rules[document]!.add(rule);
  }
  return rules.map((ids) => [...ids].sort());
}

const fileName = (index: number) => `${String(index).padStart(6, "0")}.xml`;

/** Validates the files by the XML Schema. */
async function applySchema(
  folder: string,
  count: number,
  schema: string,
  xmllint: string,
): Promise<Finding[]> {
  const names = Array.from({ length: count }, (_, index) => fileName(index));
  const report = await run(xmllint, ["--noout", "--nonet", "--schema", schema, ...names], folder);
  const found: Finding[] = [];
  const seen = new Set<number>();
  for (const line of report.split("\n")) {
    const [, digits, rest] = /^(\d{6})\.xml(.*)$/.exec(line) ?? [];
    if (!digits || rest === undefined) continue;
    const document = Number(digits);
    if (/^ (validates|fails to validate)$/.test(rest)) seen.add(document);
    else if (rest.includes("parser error")) {
      seen.add(document);
      found.push({ document, rule: "XML", flag: "fatal", text: rest });
    } else if (rest.includes("validity error")) {
      found.push({ document, rule: "XSD", flag: "fatal", text: rest.replace(/\{[^}]*\}/g, "") });
    }
  }
  if (seen.size !== count) throw new Error(`xmllint validated ${seen.size} of ${count} files:\n${report}`);
  return found;
}

/** Applies a rule set to the files of a folder in one run of Saxon. `unread` are documents that no rule applied to. */
async function applyRules(
  source: string,
  reports: string,
  documents: number[],
  rules: string,
  files: RuleFiles,
): Promise<{ findings: Finding[]; unread: number[]; log: string }> {
  if (documents.length === 0) return { findings: [], unread: [], log: "" };
  await mkdir(reports);
  const transform = ["-cp", files.saxon, "net.sf.saxon.Transform", `-s:${source}`, `-o:${reports}`];
  const log = await run(files.java, [...transform, `-xsl:${rules}`], source);
  const findings: Finding[] = [];
  const unread: number[] = [];
  for (const document of documents) {
    const report = await readFile(join(reports, fileName(document)), "utf8").catch(() => "");
    if (!report.includes("<svrl:fired-rule")) unread.push(document);
    if (report.includes("<svrl:failed-assert")) findings.push(...readReport(report, document));
  }
  return { findings, unread, log: log.slice(0, 2_000) };
}

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  isArray: (name) => name === "svrl:failed-assert",
});

/** Reads the failed assertions of a report in SVRL. */
function readReport(report: string, document: number): Finding[] {
  const failed: any[] = parser.parse(report)["svrl:schematron-output"]["svrl:failed-assert"] ?? [];
  return failed.map((assertion) => {
    const text = assertion["svrl:text"];
    return {
      document,
      rule: assertion.id,
      flag: assertion.flag ?? "fatal",
      text: String(text?.["#text"] ?? text).replace(/\s+/g, " "),
    };
  });
}

/** Runs a program and returns what it prints, even if it fails: its result is in the files. */
function run(program: string, parameters: string[], folder: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, parameters, { cwd: folder, maxBuffer: 1 << 28 }, (error, output, errors) => {
      if (error?.code === "ENOENT") {
        reject(
          new MissingRules(`The program ${program} isn't installed. Install it, or set JAVA or XMLLINT.`),
        );
      } else resolve(output + errors);
    });
  });
}
