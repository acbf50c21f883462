import type { DocumentConfig } from "./config.ts";

type DocumentType = DocumentConfig["documentType"];

/** The words of a document that don't come from the shop's data. */
export interface Labels {
  draft: string;
  number: string;
  date: string;
  referencedNumber: string;
  orderNumber: string;
  orderDate: string;
  customerNumber: string;
  customerVatId: string;
  shippingMethod: string;
  paymentMethod: string;
  position: string;
  productNumber: string;
  description: string;
  quantity: string;
  unitPrice: string;
  taxRate: string;
  lineTotal: string;
  net: string;
  /** Of the tax at a rate, on an amount without tax. */
  tax(rate: string, net: string): string;
  total: string;
  /** What the prices of the lines mean. */
  taxStatus: Record<DocumentConfig["taxStatus"], string>;
  deliveryAddress: string;
  page(number: number, count: number): string;
  /** The sentence before the lines. */
  opening: Record<DocumentType, (referenced: string) => string>;
}

const english: Labels = {
  draft: "Draft",
  number: "Number",
  date: "Date",
  referencedNumber: "Invoice",
  orderNumber: "Order",
  orderDate: "Ordered on",
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
  tax: (rate, net) => `VAT ${rate} on ${net}`,
  total: "Total",
  taxStatus: {
    gross: "Prices include VAT.",
    net: "Prices of the lines are without VAT.",
    "tax-free": "No VAT is charged.",
  },
  deliveryAddress: "Delivery address:",
  page: (number, count) => `Page ${number} of ${count}`,
  opening: {
    invoice: () => "Thank you for your order. This is what we charge you for:",
    delivery_note: () => "Thank you for your order. This delivery is for:",
    credit_note: (referenced) => `We credit you these amounts of invoice ${referenced}:`,
    storno: (referenced) => `This cancels invoice ${referenced}:`,
  },
};

const german: Labels = {
  draft: "Entwurf",
  number: "Nummer",
  date: "Datum",
  referencedNumber: "Zur Rechnung",
  orderNumber: "Bestellung",
  orderDate: "Bestellt am",
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
  taxStatus: {
    gross: "Die Preise enthalten die Umsatzsteuer.",
    net: "Die Preise der Positionen sind ohne Umsatzsteuer.",
    "tax-free": "Es wird keine Umsatzsteuer berechnet.",
  },
  deliveryAddress: "Lieferanschrift:",
  page: (number, count) => `Seite ${number} von ${count}`,
  opening: {
    invoice: () => "Vielen Dank für Ihre Bestellung. Wir berechnen Ihnen:",
    delivery_note: () => "Vielen Dank für Ihre Bestellung. Wir liefern Ihnen:",
    credit_note: (referenced) => `Wir schreiben Ihnen aus der Rechnung ${referenced} gut:`,
    storno: (referenced) => `Hiermit stornieren wir die Rechnung ${referenced}:`,
  },
};

const french: Labels = {
  draft: "Brouillon",
  number: "Numéro",
  date: "Date",
  referencedNumber: "Facture",
  orderNumber: "Commande",
  orderDate: "Commandé le",
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
  taxStatus: {
    gross: "Les prix s’entendent TVA comprise.",
    net: "Les prix des lignes s’entendent hors TVA.",
    "tax-free": "La TVA n’est pas facturée.",
  },
  deliveryAddress: "Adresse de livraison :",
  page: (number, count) => `Page ${number} sur ${count}`,
  opening: {
    invoice: () => "Merci de votre commande. Nous vous facturons :",
    delivery_note: () => "Merci de votre commande. Nous vous livrons :",
    credit_note: (referenced) => `Nous vous créditons ces montants de la facture ${referenced} :`,
    storno: (referenced) => `Ce document annule la facture ${referenced} :`,
  },
};

/** The labels by the locales that documents are written in. */
export const labelsByLocale = { "en-GB": english, "de-DE": german, "fr-FR": french } satisfies Record<
  string,
  Labels
>;

/** A locale that documents are written in: the one that is asked for, or else the default. */
export function documentLocale(wanted: string): keyof typeof labelsByLocale {
  return Object.hasOwn(labelsByLocale, wanted) ? (wanted as keyof typeof labelsByLocale) : "en-GB";
}
