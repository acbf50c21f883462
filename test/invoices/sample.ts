import { amountsOf } from "./sums.ts";
import type { EntryInput, LineInput } from "./sums.ts";

/** Rows of `erp.invoice_form` as a config has them. */
export const standards = {
  zugferd: {
    guideline: "urn:cen.eu:en16931:2017",
    businessProcess: null,
    fileName: "factur-x.xml",
    embedsXml: true,
    profile: "EN 16931",
    version: "1.0",
  },
  xrechnung: {
    guideline: "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
    businessProcess: "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0",
    fileName: "xrechnung.xml",
    embedsXml: false,
    profile: null,
    version: null,
  },
};

export type StructuredForm = keyof typeof standards;

export const sampleSeller = {
  legalName: "Gipfel & Bohne Handelsgesellschaft mbH",
  contactName: "Hanna Krüger",
  email: "rechnung@gipfel-und-bohne.example",
  phone: "+49 40 5550 100",
  website: "gipfel-und-bohne.example",
  electronicAddress: { id: "rechnung@gipfel-und-bohne.example", scheme: "EM" },
  address: {
    street: "Hafenweg 1",
    additionalAddressLine1: null,
    additionalAddressLine2: null,
    zipcode: "20457",
    city: "Hamburg",
    countryIso: "DE",
    countryName: "Germany",
  },
  vatId: "DE999999999",
  taxNumber: "99/999/99999",
  managers: "Hanna Krüger, Thomas Mercier",
  register: "Amtsgericht Hamburg, HRB 999999",
  footer: "Goods remain our property until they are paid in full.",
  bank: {
    accountHolder: "Gipfel & Bohne Handelsgesellschaft mbH",
    iban: "DE75512108001245126199",
    bic: "GUBODEH0XXX",
    name: "Beispielbank Hamburg",
  },
};

export const sampleAddress = {
  company: "Bergwacht Süd e. V.",
  department: "Einkauf",
  title: null,
  firstName: "Anna",
  lastName: "Becker",
  street: "Almweg 12",
  additionalAddressLine1: "Hinterhaus",
  additionalAddressLine2: null,
  zipcode: "83471",
  city: "Berchtesgaden",
  countryIso: "DE",
  countryName: "Germany",
  countryStateName: "Bavaria",
};

export const sampleBuyer = {
  vatId: "DE888888888",
  registrationId: "HRB 888888",
  electronicAddress: { id: "04011000-12345-03", scheme: "0204" },
  email: "einkauf@bergwacht-sued.example",
};

/** Two rates, a line discount, a price of 100 units, and a discount and postage on the whole invoice. */
export const sampleLines: LineInput[] = [
  {
    label: "Climbing boots, size 42",
    quantity: 2,
    netPrice: 99.9951,
    discount: { amount: 9.99, reason: "Loyal customer" },
    productNumber: "BK-0001",
    gtin: "4006381333931",
    description: "Waterproof leather",
  },
  { label: "Screws", quantity: 250, netPrice: 7.35, baseQuantity: 100, productNumber: "SC-0100" },
  { label: "Coffee, ground", quantity: 3, netPrice: 8.5, taxRate: 7, unitCode: "KGM" },
];
export const sampleDiscounts = {
  allowances: [
    { amount: 10, reason: "Voucher SPRING" },
    { amount: 1.25, reason: "Voucher SPRING", taxRate: 7 },
  ],
  charges: [{ amount: 4.9, reason: "Postage" }],
};

export interface SampleOptions {
  form?: StructuredForm;
  lines?: LineInput[];
  allowances?: EntryInput[];
  charges?: EntryInput[];
  paid?: number;
}

/** Makes the config of an invoice from its lines. Further changes replace top-level fields. */
export function sampleInvoice(options: SampleOptions = {}, changes: object = {}): any {
  const { form = "xrechnung", lines = sampleLines, paid } = options;
  const discounts = options.lines ? {} : sampleDiscounts;
  const { allowances, charges } = { ...discounts, ...options };
  // A copy, because tests change what they get, and files share a process
  return structuredClone({
    documentType: "invoice",
    typeCode: "380",
    title: "Invoice",
    form,
    standard: standards[form],
    documentNumber: "INV-10042",
    documentDate: "2026-05-04",
    referencedDocumentNumber: null,
    referencedDocumentDate: null,
    locale: "en-GB",
    displayPrices: true,
    orderNumber: "SO-10017",
    orderDate: "2026-05-01",
    deliveryDate: { from: "2026-05-03", to: "2026-05-04" },
    customerNumber: "C-10003",
    customerVatId: sampleBuyer.vatId,
    taxStatus: "net",
    taxExemption: null,
    currency: { isoCode: "EUR", symbol: "€", position: 1 },
    shippingMethod: "Express",
    paymentMethod: "Bank transfer",
    paymentMeansCode: "58",
    dueDate: "2026-05-18",
    paymentTerms: "Payable within 14 days.",
    buyerReference: "04011000-12345-03",
    purchaseOrderNumber: "PO-77",
    billingAddress: sampleAddress,
    shippingAddress: sampleAddress,
    buyer: sampleBuyer,
    sender: { name: "Gipfel & Bohne", address: sampleSeller.address },
    seller: sampleSeller,
    ...amountsOf(lines, { allowances, charges, paid }),
    taxInDefaultCurrency: null,
    ...changes,
  });
}

const negate = (object: any, keys: string[]) => ({
  ...object,
  ...Object.fromEntries(keys.map((key) => [key, 0 - object[key]])),
});

/** Makes the config of the cancellation invoice that cancels an invoice. */
export function cancellationOf(invoice: any): any {
  const { totals, taxInDefaultCurrency: tax } = invoice;
  return {
    ...invoice,
    documentType: "storno",
    typeCode: "384",
    title: "Cancellation invoice",
    documentNumber: "CI-10007",
    documentDate: "2026-05-20",
    referencedDocumentNumber: invoice.documentNumber,
    referencedDocumentDate: invoice.documentDate,
    dueDate: null,
    lines: invoice.lines.map((line: any) => ({
      ...negate(line, ["quantity", "total", "net"]),
      discount: line.discount && negate(line.discount, ["amount"]),
    })),
    allowances: invoice.allowances.map((entry: any) => negate(entry, ["amount"])),
    charges: invoice.charges.map((entry: any) => negate(entry, ["amount"])),
    totals: {
      ...negate(totals, ["net", "total", "lineNet", "allowances", "charges"]),
      taxes: totals.taxes.map((row: any) => negate(row, ["net", "tax"])),
      paid: 0,
      due: 0 - totals.total,
    },
    taxInDefaultCurrency: tax && {
      ...negate(tax, ["tax"]),
      taxes: tax.taxes.map((row: any) => negate(row, ["tax"])),
    },
  };
}

/** Makes the config of a credit note over the whole of an invoice. */
export function creditNoteOf(invoice: any): any {
  const { totals } = invoice;
  return {
    ...invoice,
    documentType: "credit_note",
    typeCode: "381",
    title: "Credit note",
    documentNumber: "CN-10009",
    documentDate: "2026-05-20",
    referencedDocumentNumber: invoice.documentNumber,
    referencedDocumentDate: invoice.documentDate,
    dueDate: null,
    totals: { ...totals, paid: 0, due: totals.total },
  };
}

/** Changes a config into one in US dollars, whose tax is also in euros. */
export function inDollars(config: any): any {
  const inEuros = (amount: number) => Math.round(amount * 80) / 100;
  const taxes = config.totals.taxes.map(({ rate, tax }: any) => ({ rate, tax: inEuros(tax) }));
  return {
    ...config,
    currency: { isoCode: "USD", symbol: "$", position: 0 },
    taxInDefaultCurrency: {
      currency: { isoCode: "EUR", symbol: "€", position: 1 },
      exchangeRate: { factor: 1.25, date: "2026-05-04", source: "ecb" },
      taxes,
      tax: Math.round(taxes.reduce((sum: number, row: any) => sum + row.tax, 0) * 100) / 100,
    },
  };
}

/** Makes an invoice without tax: `category` is AE, K, G, E or Z. */
export function taxFreeInvoice(category: string, options: SampleOptions = {}, changes: object = {}): any {
  const exemptions: Record<string, string> = {
    AE: "reverse_charge",
    K: "intra_community",
    G: "export",
    E: "small_business",
  };
  const abroad = { K: "AT", G: "CH" }[category];
  const address = abroad
    ? { ...sampleAddress, countryIso: abroad, countryName: "Abroad", zipcode: "6020", city: "Innsbruck" }
    : sampleAddress;
  const lines = sampleLines.map((line) => ({ ...line, taxCategory: category, taxRate: 0 }));
  return sampleInvoice(
    { lines, ...options },
    {
      taxStatus: "tax-free",
      taxExemption: exemptions[category] ?? null,
      billingAddress: address,
      shippingAddress: address,
      buyer: { ...sampleBuyer, vatId: category === "K" ? "ATU12345678" : sampleBuyer.vatId },
      ...changes,
    },
  );
}
