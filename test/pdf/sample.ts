/** An invoice over two lines, as `erp.document_config` writes it. */
export function sampleConfig(changes: object = {}): any {
  const address = {
    company: "Café Zeitlos",
    firstName: "Chloé",
    lastName: "Lefèvre",
    street: "Rue des Tilleuls 5",
    additionalAddressLine1: null,
    zipcode: "74000",
    city: "Annecy",
    countryName: "France",
    countryIso: "FR",
  };
  return {
    documentType: "invoice",
    title: "Invoice",
    documentNumber: "INV-10042",
    documentDate: "2026-05-04",
    referencedDocumentNumber: null,
    locale: "en-GB",
    displayPrices: true,
    orderNumber: "SO-10017",
    orderDate: "2026-05-01",
    customerNumber: "C-10003",
    customerVatId: "FR123456789",
    taxStatus: "gross",
    currency: { isoCode: "EUR", symbol: "€", position: 1 },
    shippingMethod: "Express",
    paymentMethod: "Prepaid",
    billingAddress: address,
    shippingAddress: address,
    sender: {
      name: "Gipfel & Bohne",
      address: {
        street: "Hafenweg 1",
        zipcode: "20457",
        city: "Hamburg",
        countryName: "Germany",
        countryIso: "DE",
      },
    },
    lines: [
      line(1, "Wanderstiefel Größe 42", 2, 59.5, 119, 19),
      line(2, "Café moulu – 500 g", 100, 10.7, 1070, 7),
    ],
    totals: {
      net: 1100,
      taxes: [
        { rate: 7, net: 1000, tax: 70 },
        { rate: 19, net: 100, tax: 19 },
      ],
      total: 1189,
    },
    ...changes,
  };
}

function line(
  position: number,
  label: string,
  quantity: number,
  unitPrice: number,
  total: number,
  taxRate: number,
) {
  const productNumber = `BK-000${position}`;
  return { position, label, description: null, productNumber, quantity, unitPrice, total, taxRate };
}

/** The sample with that many lines. */
export function longConfig(count: number, changes: object = {}): any {
  const lines = Array.from({ length: count }, (_, i) => line(i + 1, `Thing ${i + 1}`, 1, 1.19, 1.19, 19));
  return sampleConfig({ lines, ...changes });
}

/** The sample as another type of document, without prices or with negative ones. */
export function sampleOf(documentType: string, changes: object = {}): any {
  const config = sampleConfig({ documentType, title: documentType, documentNumber: "XX-10001", ...changes });
  if (documentType === "delivery_note") {
    const lines = config.lines.map((line: any) => ({
      ...line,
      unitPrice: undefined,
      total: undefined,
      taxRate: undefined,
    }));
    return { ...config, displayPrices: false, lines, totals: null };
  }
  if (documentType === "invoice") return config;
  return {
    ...config,
    referencedDocumentNumber: "INV-10042",
    lines: config.lines.map((l: any) => ({ ...l, unitPrice: -l.unitPrice, total: -l.total })),
    totals: {
      net: -1100,
      taxes: config.totals.taxes.map((t: any) => ({ rate: t.rate, net: -t.net, tax: -t.tax })),
      total: -1189,
    },
  };
}

/** A seller with every possible field. */
export const sampleSeller = {
  legalName: "Gipfel & Bohne Handelsgesellschaft mbH",
  address: sampleConfig().sender.address,
  email: "shop@gipfel-und-bohne.example",
  phone: "+49 40 5550 100",
  website: "gipfel-und-bohne.example",
  vatId: "DE999999999",
  taxNumber: "99/999/99999",
  managers: "Hanna Krüger, Thomas Mercier",
  register: "Amtsgericht Hamburg, HRB 999999",
  footer: "Goods remain our property until they are paid in full.",
  bank: {
    accountHolder: "Gipfel & Bohne Handelsgesellschaft mbH",
    iban: "DE12000000000123456789",
    bic: "GUBODEH0XXX",
    name: "Beispielbank Hamburg",
  },
};

/** The sample of a merchant who has filled in everything. */
export function legalConfig(documentType: string, changes: object = {}): any {
  return sampleOf(documentType, {
    seller: sampleSeller,
    deliveryDate: { from: "2026-05-03", to: "2026-05-04" },
    ...(documentType === "storno" || documentType === "credit_note"
      ? { referencedDocumentDate: "2026-05-02" }
      : {}),
    ...changes,
  });
}
