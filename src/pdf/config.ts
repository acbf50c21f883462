import { z } from "zod";
import { plainText } from "./text.ts";

/** A text of the shop; null if it is blank. */
const text = z.preprocess(
  (value) => (typeof value === "string" ? plainText(value) || null : null),
  z.string().nullable(),
);
const day = z.iso.date();
const amount = z.number();

const address = z
  .object({
    company: text,
    department: text,
    firstName: text,
    lastName: text,
    street: text,
    additionalAddressLine1: text,
    additionalAddressLine2: text,
    zipcode: text,
    city: text,
    countryName: text,
    countryIso: text,
    countryStateName: text,
  })
  .nullable();

/** A period: its first and last day. */
const period = z.object({ from: day, to: day });

const currency = z.object({
  isoCode: z.string(),
  symbol: z.string().transform(plainText),
  /** 1 when the symbol comes after the amount, 0 before it. */
  position: z.number(),
});

/** The seller's details that the law requires. Null on documents that are older than this field. */
const seller = z
  .object({
    legalName: text,
    /** Person or department for questions. */
    contactName: text.optional(),
    address,
    email: text,
    phone: text,
    website: text,
    vatId: text,
    taxNumber: text,
    managers: text,
    register: text,
    footer: text,
    bank: z.object({ accountHolder: text, iban: text, bic: text, name: text }).nullable(),
  })
  .nullish();

/** The standard of a structured invoice. */
const standard = z.object({
  /** Name of the XML file. */
  fileName: z.string(),
  /** Whether the PDF contains the XML. */
  embedsXml: z.boolean(),
  profile: z.string().nullable(),
  version: z.string().nullable(),
});

/**
 * The data that a document is rendered from: `erp.document_config` writes it when the document is made, and it never
 * changes. Later releases must read what this one wrote, so fields may be added but not renamed.
 */
export const pdfConfig = z.object({
  documentType: z.enum([
    "invoice",
    "prepayment",
    "delivery_note",
    "credit_note",
    "storno",
    "quote",
    "supplier_order",
  ]),
  /** The name of the type, in the language of the document. */
  title: z.string().transform(plainText),
  /** Null on a draft. */
  documentNumber: text,
  documentDate: day,
  /** The number of the invoice that a credit note or cancellation reverses. */
  referencedDocumentNumber: text,
  referencedDocumentDate: day.nullish(),
  locale: z.string(),
  displayPrices: z.boolean(),
  orderNumber: text,
  /** Null on quotes. */
  orderDate: day.nullish(),
  /** On quotes: the last day on which the customer can accept. */
  validUntil: day.nullish(),
  /** On supplier orders: when the goods are expected. */
  deliverBy: day.nullish(),
  /** When the charged goods were delivered; null if they aren't yet. */
  deliveryDate: period.nullish(),
  customerNumber: text,
  customerVatId: text,
  taxStatus: z.enum(["gross", "net", "tax-free"]),
  /** Why no tax is charged: a name of erp.tax_reason. */
  taxExemption: z.string().nullish(),
  /** The day on which the invoice is due, and the terms of payment. */
  dueDate: day.nullish(),
  paymentTerms: text.optional(),
  /** Code of UNTDID 4461. */
  paymentMeansCode: text.optional(),
  buyerReference: text.optional(),
  purchaseOrderNumber: text.optional(),
  /** Prepayment invoices that this invoice deducts. */
  prepayments: z
    .array(z.object({ number: z.string().transform(plainText), date: day, total: amount, tax: amount }))
    .nullish(),
  /** Null if the invoice has no XML. */
  standard: standard.nullish(),
  /** The XML that the PDF contains. */
  xml: z.string().nullish(),
  currency,
  shippingMethod: text,
  paymentMethod: text,
  billingAddress: address,
  shippingAddress: address,
  sender: z.object({ name: text, address }),
  seller,
  lines: z.array(
    z.object({
      position: z.number(),
      label: text,
      description: text,
      productNumber: text,
      quantity: z.number(),
      /** Price of one unit. Like `total`, it excludes tax if the tax status is net. All three are null on delivery notes. */
      unitPrice: amount.nullish(),
      total: amount.nullish(),
      /** In percent. */
      taxRate: amount.nullish(),
      /** Whether the line is this document's share of a discount on the whole order. */
      isShare: z.boolean().nullish(),
      /** Why the total is less than the price times the quantity. */
      discount: z.object({ reason: text }).nullish(),
      /** On delivery notes of a partial delivery: ordered units, and units in earlier parcels. */
      orderedQuantity: z.number().nullish(),
      shippedBefore: z.number().nullish(),
    }),
  ),
  /** On delivery notes: units for later parcels. */
  outstanding: z.array(z.object({ label: text, productNumber: text, quantity: z.number() })).nullish(),
  /** Null on delivery notes. */
  totals: z
    .object({
      net: amount,
      /** The category is a code of UNTDID 5305. The reason says why there is no tax. */
      taxes: z.array(
        z.object({
          rate: amount,
          net: amount,
          tax: amount,
          category: text.optional(),
          reason: text.optional(),
        }),
      ),
      total: amount,
      paid: amount.nullish(),
      due: amount.nullish(),
    })
    .nullable(),
  /** The tax of a document in a foreign currency, in the merchant's. `factor` is units of the foreign one per unit. */
  taxInDefaultCurrency: z
    .object({
      currency,
      exchangeRate: z.object({ factor: amount, date: day, source: text }),
      taxes: z.array(z.object({ rate: amount, tax: amount })),
      tax: amount,
    })
    .nullish(),
});

export type PdfConfig = z.output<typeof pdfConfig>;
export type PdfLine = PdfConfig["lines"][number];
export type Seller = NonNullable<PdfConfig["seller"]>;
export type Address = NonNullable<PdfConfig["billingAddress"]>;
