import type { PdfConfig } from "./config.ts";

type DocumentType = PdfConfig["documentType"];

/** Joins the parts that aren't null. */
const joinParts = (parts: (string | null)[]) => parts.filter((part) => part !== null).join(", ");

/** The fixed words of a document. */
const english = {
  draft: "Draft",
  number: "Number",
  date: "Date",
  referencedNumber: "Invoice",
  orderNumber: "Order",
  orderDate: "Ordered on",
  validUntil: "Valid until",
  deliverBy: "Delivery by",
  purchaseOrderNumber: "Your order no.",
  buyerReference: "Your reference",
  deliveryDate: "Delivered on",
  customerNumber: "Customer no.",
  customerVatId: "Your VAT no.",
  shippingMethod: "Shipping",
  paymentMethod: "Payment",
  position: "#",
  productNumber: "Product no.",
  description: "Description",
  quantity: "Qty",
  unitPrice: "Unit price",
  taxRate: "VAT",
  lineTotal: "Amount",
  net: "Net total",
  /** Label of the tax at a rate, on an amount without tax. */
  tax: (rate: string, net: string) => `VAT ${rate} on ${net}`,
  total: "Total",
  paid: "Paid already",
  due: "Amount due",
  giroCode: "Pay by banking app (GiroCode)",
  /** A prepayment that is deducted, with its tax. */
  prepayment: (invoice: string, total: string, tax: string) =>
    `Prepayment ${invoice}: ${total}, of which VAT ${tax}.`,
  dueOn: (date: string) => `Payable until ${date}.`,
  /** The tax in another currency, in parts. */
  taxIn: (currency: string, parts: string) => `VAT in ${currency}: ${parts}`,
  /** The exchange rate of a day. */
  exchangeRate: (rate: string, date: string) => `Exchange rate of ${date}: ${rate}`,
  /** Whether the prices of the lines include tax. */
  taxStatus: {
    gross: "Prices include VAT.",
    net: "Prices of the lines are without VAT.",
    "tax-free": "No VAT is charged.",
  },
  /** The reason why no tax is charged, in the terms of EU law. */
  taxExemption: {
    small_business:
      "No VAT is charged: exemption for small enterprises (Article 284 of Directive 2006/112/EC).",
    export: "VAT-exempt export (Article 146 of Directive 2006/112/EC).",
    intra_community: "VAT-exempt intra-Community supply (Article 138 of Directive 2006/112/EC).",
    reverse_charge: "Reverse charge: the customer owes the VAT (Article 196 of Directive 2006/112/EC).",
  },
  /** Label of a part of a discount on the whole order. */
  share: "Share of this document",
  discount: "Discount",
  /** Label of a line that is only partly in the parcel. The last two counts are left out if they are 0. */
  part: (ordered: string, before: string | null, later: string | null) =>
    joinParts([
      `Of ${ordered} ordered`,
      before && `${before} shipped before`,
      later && `${later} still to come`,
    ]),
  outstanding: "Still to come:",
  /** The number of items that aren't listed. */
  more: (count: string) => `and ${count} more`,
  vatId: "VAT no.",
  taxNumber: "Tax no.",
  managers: "Managing directors:",
  accountHolder: "Account holder:",
  deliveryAddress: "Delivery address:",
  page: (number: number, count: number) => `Page ${number} of ${count}`,
  /** The sentence before the lines, by type of document. */
  opening: (referenced: string): Record<DocumentType, string> => ({
    invoice: "Thank you for your order. This is what we charge you for:",
    prepayment: "We charge you this amount in advance:",
    delivery_note: "Thank you for your order. This delivery is for:",
    credit_note: `We credit you these amounts of invoice ${referenced}:`,
    storno: `This cancels invoice ${referenced}:`,
    quote: "Thank you for your interest. We offer you:",
    supplier_order: "We order from you:",
  }),
  /** A document by its number and date. */
  dated: (number: string, date: string) => `${number} of ${date}`,
};

export type Labels = typeof english;

const german: Labels = {
  draft: "Entwurf",
  number: "Nummer",
  date: "Datum",
  referencedNumber: "Zur Rechnung",
  orderNumber: "Bestellung",
  orderDate: "Bestellt am",
  validUntil: "Gültig bis",
  deliverBy: "Lieferung bis",
  purchaseOrderNumber: "Ihre Bestellnr.",
  buyerReference: "Ihre Referenz",
  deliveryDate: "Geliefert am",
  customerNumber: "Kundennummer",
  customerVatId: "Ihre USt-IdNr.",
  shippingMethod: "Versand",
  paymentMethod: "Zahlung",
  position: "Pos.",
  productNumber: "Artikelnr.",
  description: "Bezeichnung",
  quantity: "Menge",
  unitPrice: "Einzelpreis",
  taxRate: "USt.",
  lineTotal: "Betrag",
  net: "Summe netto",
  tax: (rate, net) => `USt. ${rate} auf ${net}`,
  total: "Gesamtbetrag",
  paid: "Bereits gezahlt",
  due: "Zahlbetrag",
  giroCode: "Per Banking-App zahlen (GiroCode)",
  prepayment: (invoice, total, tax) => `Anzahlung ${invoice}: ${total}, darin USt. ${tax}.`,
  dueOn: (date) => `Zahlbar bis ${date}.`,
  taxIn: (currency, parts) => `USt. in ${currency}: ${parts}`,
  exchangeRate: (rate, date) => `Wechselkurs vom ${date}: ${rate}`,
  taxStatus: {
    gross: "Die Preise enthalten die Umsatzsteuer.",
    net: "Die Preise der Positionen sind ohne Umsatzsteuer.",
    "tax-free": "Es wird keine Umsatzsteuer berechnet.",
  },
  taxExemption: {
    small_business:
      "Es wird keine Umsatzsteuer berechnet: Steuerbefreiung für Kleinunternehmer (Artikel 284 der Richtlinie 2006/112/EG).",
    export: "Steuerfreie Ausfuhrlieferung (Artikel 146 der Richtlinie 2006/112/EG).",
    intra_community: "Steuerfreie innergemeinschaftliche Lieferung (Artikel 138 der Richtlinie 2006/112/EG).",
    reverse_charge: "Steuerschuldnerschaft des Leistungsempfängers (Artikel 196 der Richtlinie 2006/112/EG).",
  },
  share: "Anteil dieses Belegs",
  discount: "Rabatt",
  part: (ordered, before, later) =>
    joinParts([
      `Von ${ordered} bestellten`,
      before && `${before} früher geliefert`,
      later && `${later} folgen noch`,
    ]),
  outstanding: "Es folgen noch:",
  more: (count) => `und ${count} weitere`,
  vatId: "USt-IdNr.",
  taxNumber: "Steuernr.",
  managers: "Geschäftsführung:",
  accountHolder: "Kontoinhaber:",
  deliveryAddress: "Lieferanschrift:",
  page: (number, count) => `Seite ${number} von ${count}`,
  opening: (referenced) => ({
    invoice: "Vielen Dank für Ihre Bestellung. Wir berechnen Ihnen:",
    prepayment: "Wir berechnen Ihnen im Voraus:",
    delivery_note: "Vielen Dank für Ihre Bestellung. Wir liefern Ihnen:",
    credit_note: `Wir schreiben Ihnen aus der Rechnung ${referenced} gut:`,
    storno: `Hiermit stornieren wir die Rechnung ${referenced}:`,
    quote: "Vielen Dank für Ihr Interesse. Wir bieten Ihnen an:",
    supplier_order: "Wir bestellen bei Ihnen:",
  }),
  dated: (number, date) => `${number} vom ${date}`,
};

const french: Labels = {
  draft: "Brouillon",
  number: "Numéro",
  date: "Date",
  referencedNumber: "Facture",
  orderNumber: "Commande",
  orderDate: "Commandé le",
  validUntil: "Valable jusqu’au",
  deliverBy: "Livraison avant le",
  purchaseOrderNumber: "Votre commande",
  buyerReference: "Votre référence",
  deliveryDate: "Livré le",
  customerNumber: "N° client",
  customerVatId: "Votre n° de TVA",
  shippingMethod: "Livraison",
  paymentMethod: "Paiement",
  position: "N°",
  productNumber: "Référence",
  description: "Désignation",
  quantity: "Qté",
  unitPrice: "Prix unitaire",
  taxRate: "TVA",
  lineTotal: "Montant",
  net: "Total HT",
  tax: (rate, net) => `TVA ${rate} sur ${net}`,
  total: "Total",
  paid: "Déjà payé",
  due: "Reste à payer",
  giroCode: "Payer par application bancaire (GiroCode)",
  prepayment: (invoice, total, tax) => `Acompte ${invoice} : ${total}, dont TVA ${tax}.`,
  dueOn: (date) => `Payable jusqu’au ${date}.`,
  taxIn: (currency, parts) => `TVA en ${currency} : ${parts}`,
  exchangeRate: (rate, date) => `Taux de change du ${date} : ${rate}`,
  taxStatus: {
    gross: "Les prix s’entendent TVA comprise.",
    net: "Les prix des lignes s’entendent hors TVA.",
    "tax-free": "La TVA n’est pas facturée.",
  },
  taxExemption: {
    small_business:
      "TVA non applicable : franchise des petites entreprises (article 284 de la directive 2006/112/CE).",
    export: "Exportation exonérée de TVA (article 146 de la directive 2006/112/CE).",
    intra_community:
      "Livraison intracommunautaire exonérée de TVA (article 138 de la directive 2006/112/CE).",
    reverse_charge:
      "Autoliquidation : la TVA est due par le client (article 196 de la directive 2006/112/CE).",
  },
  share: "Part de ce document",
  discount: "Remise",
  part: (ordered, before, later) =>
    joinParts([`Sur ${ordered} commandés`, before && `${before} déjà livrés`, later && `${later} à suivre`]),
  outstanding: "À suivre :",
  more: (count) => `et ${count} autres`,
  vatId: "N° de TVA",
  taxNumber: "N° fiscal",
  managers: "Direction :",
  accountHolder: "Titulaire :",
  deliveryAddress: "Adresse de livraison :",
  page: (number, count) => `Page ${number} sur ${count}`,
  opening: (referenced) => ({
    invoice: "Merci de votre commande. Nous vous facturons :",
    prepayment: "Nous vous facturons cet acompte :",
    delivery_note: "Merci de votre commande. Nous vous livrons :",
    credit_note: `Nous vous créditons ces montants de la facture ${referenced} :`,
    storno: `Ce document annule la facture ${referenced} :`,
    quote: "Merci de votre intérêt. Nous vous proposons :",
    supplier_order: "Nous vous commandons :",
  }),
  dated: (number, date) => `${number} du ${date}`,
};

/** The labels by locale. */
export const labelsByLocale = { "en-GB": english, "de-DE": german, "fr-FR": french } satisfies Record<
  string,
  Labels
>;

/** Returns the requested locale if documents support it, otherwise the default. */
export function pdfLocale(requested: string): keyof typeof labelsByLocale {
  return Object.hasOwn(labelsByLocale, requested) ? (requested as keyof typeof labelsByLocale) : "en-GB";
}
