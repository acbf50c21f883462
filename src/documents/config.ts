import { z } from "zod";
import { plain } from "./text.ts";

/** A text of the shop, fit for a page; null when there is nothing in it. */
const text = z.preprocess(
  (value) => (typeof value === "string" ? plain(value) || null : null),
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

/**
 * What a document is rendered from: `erp.document_config` writes it when the document is made, and nothing changes it
 * afterwards. Versions of the service to come must read what this one wrote, so fields may be added but not renamed.
 */
export const documentConfig = z.object({
  documentType: z.enum(["invoice", "delivery_note", "credit_note", "storno"]),
  /** The name of the type, in the language of the document. */
  title: z.string().transform(plain),
  /** Null on a draft. */
  documentNumber: text,
  documentDate: day,
  /** The number of the invoice that a credit note or cancellation takes back. */
  referencedDocumentNumber: text,
  locale: z.string(),
  displayPrices: z.boolean(),
  orderNumber: text,
  orderDate: day,
  customerNumber: text,
  customerVatId: text,
  taxStatus: z.enum(["gross", "net", "tax-free"]),
  currency: z.object({
    isoCode: z.string(),
    symbol: z.string().transform(plain),
    /** 1 when the symbol stands after the amount, 0 before it. */
    position: z.number(),
  }),
  shippingMethod: text,
  paymentMethod: text,
  billingAddress: address,
  shippingAddress: address,
  sender: z.object({ name: text, address }),
  lines: z.array(
    z.object({
      position: z.number(),
      label: text,
      description: text,
      productNumber: text,
      quantity: z.number(),
      /** Without tax when the tax status is net, and so is `total`. None of the three on delivery notes. */
      unitPrice: amount.nullish(),
      total: amount.nullish(),
      /** In percent. */
      taxRate: amount.nullish(),
    }),
  ),
  /** Null on delivery notes. */
  totals: z
    .object({
      net: amount,
      taxes: z.array(z.object({ rate: amount, net: amount, tax: amount })),
      total: amount,
    })
    .nullable(),
});

export type DocumentConfig = z.output<typeof documentConfig>;
export type DocumentLine = DocumentConfig["lines"][number];
export type Address = NonNullable<DocumentConfig["billingAddress"]>;
