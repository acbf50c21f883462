import { existsSync } from "node:fs";

/** Files of the official rules, and the programs that apply them. */
export interface RuleFiles {
  /** XML Schema of CII D16B. */
  schema: string;
  /** Rules of EN 16931 as XSLT. */
  en16931: string;
  /** Rules of XRechnung as XSLT. */
  xrechnung: string;
  /** XML Schema of the profile EN 16931 of Factur-X, and its rules as XSLT. */
  facturxSchema: string;
  facturx: string;
  saxon: string;
  java: string;
  xmllint: string;
}

const variables: [key: keyof RuleFiles, name: string, use: string][] = [
  [
    "schema",
    "CII_SCHEMA",
    "the file CrossIndustryInvoice_100pD16B.xsd in cii/schema of github.com/ConnectingEurope/eInvoicing-EN16931",
  ],
  [
    "en16931",
    "EN16931_RULES",
    "the file cii/xslt/EN16931-CII-validation.xslt of github.com/ConnectingEurope/eInvoicing-EN16931",
  ],
  [
    "xrechnung",
    "XRECHNUNG_RULES",
    "the file schematron/cii/XRechnung-CII-validation.xsl of a release of github.com/itplr-kosit/xrechnung-schematron",
  ],
  [
    "facturxSchema",
    "FACTURX_SCHEMA",
    "the file FACTUR-X_EN16931.xsd of Factur-X, which github.com/ZUGFeRD/mustangproject has in validator/src/main/resources",
  ],
  ["facturx", "FACTURX_RULES", "the file FACTUR-X_EN16931.xslt of Factur-X, from the same places"],
  [
    "saxon",
    "SAXON_JAR",
    "the file of Saxon-HE, such as /usr/share/java/Saxon-HE.jar of Debian's libsaxonhe-java",
  ],
];

/** Finds the files of the rules by environment variables. Throws if one is missing, with what to set. */
export function findRuleFiles(env: NodeJS.ProcessEnv = process.env): RuleFiles {
  const files = { java: env.JAVA ?? "java", xmllint: env.XMLLINT ?? "xmllint" } as RuleFiles;
  const faults: string[] = [];
  for (const [key, name, use] of variables) {
    const path = env[name];
    if (!path) faults.push(`Set ${name} to ${use}.`);
    else if (!existsSync(path)) faults.push(`${name} names ${path}, which doesn't exist. It must be ${use}.`);
    else files[key] = path;
  }
  if (faults.length > 0) throw new MissingRules(["The official rules are missing.", ...faults].join("\n"));
  return files;
}

/** The machine lacks a file or program that the rules need. */
export class MissingRules extends Error {}
