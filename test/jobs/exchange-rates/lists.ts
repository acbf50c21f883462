/** Exchange rates by day, then by currency, as text. */
export type Days = Record<string, Record<string, string>>;

/** A list as the European Central Bank publishes it. */
export function listOf(days: Days): string {
  const day = ([date, rates]: [string, Record<string, string>]) => {
    const lines = Object.entries(rates).map(([currency, rate]) => {
      return `\t\t\t<Cube currency='${currency}' rate='${rate}'/>\n`;
    });
    return `\t\t<Cube time='${date}'>\n${lines.join("")}\t\t</Cube>\n`;
  };
  return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
\t<gesmes:subject>Reference rates</gesmes:subject>
\t<gesmes:Sender>
\t\t<gesmes:name>European Central Bank</gesmes:name>
\t</gesmes:Sender>
\t<Cube>
${Object.entries(days).map(day).join("")}\t</Cube>
</gesmes:Envelope>`;
}

/** One day, with currencies of the demonstration shop and one that it doesn't have. */
export const oneDay = listOf({ "2026-06-01": { USD: "1.1", JPY: "161.85", GBP: "0.85", CHF: "0.95" } });
