import { mutant } from "./mutant.ts";
import type { Mutant, MutantOptions } from "./mutant.ts";
import { cancellationOf, inDollars, sampleInvoice, taxFreeInvoice } from "./sample.ts";

const change = (
  rules: string | string[],
  field: string,
  values: (config: any) => void,
  options: MutantOptions = {},
) => mutant(rules, field, values, { base: sampleInvoice(), ...options });

/** Addresses of delivery are in the XML if they aren't the billing address. */
const toSalzburg = (values: object) => (config: any) =>
  Object.assign(config.shippingAddress, { city: "Salzburg", countryIso: "AT", zipcode: "5020" }, values);

const parties: Mutant[] = [
  change("BR-DE-2", "merchant.contactName", ({ seller }) =>
    Object.assign(seller, { contactName: null, phone: null, email: null }),
  ),
  change("BR-DE-3", "merchant.address.city", ({ seller }) => (seller.address.city = null)),
  change("BR-DE-4", "merchant.address.zipcode", ({ seller }) => delete seller.address.zipcode),
  change("BR-DE-5", "merchant.contactName", ({ seller }) => (seller.contactName = "")),
  change("BR-DE-6", "merchant.phone", ({ seller }) => (seller.phone = null)),
  change("BR-DE-7", "merchant.email", ({ seller }) => (seller.email = null)),
  change("BR-DE-8", "order.billingAddress.city", (c) => (c.billingAddress.city = null)),
  change("BR-DE-9", "order.billingAddress.zipcode", (c) => (c.billingAddress.zipcode = " ")),
  change("BR-DE-10", "order.shippingAddress.city", toSalzburg({ city: null })),
  change("BR-DE-11", "order.shippingAddress.zipcode", toSalzburg({ zipcode: null })),
  change("BR-DE-27", "merchant.phone", ({ seller }) => (seller.phone = "+49 ask")),
  change("BR-DE-28", "merchant.email", ({ seller }) => (seller.email = "rechnung@example")),
  change("BR-DE-28", "merchant.email", ({ seller }) => (seller.email = "a@b@example.org")),
  change("PEPPOL-EN16931-R010", "customer.electronicAddress", (c) => (c.buyer.electronicAddress = null)),
  change("PEPPOL-EN16931-R020", "merchant.electronicAddress", (c) => (c.seller.electronicAddress = null)),
];

const payment: Mutant[] = [
  change("BR-DE-19", "merchant.iban", ({ seller }) => (seller.bank.iban = "DE76512108001245126199")),
  change("BR-DE-23-a", "merchant.iban", ({ seller }) => (seller.bank = null)),
  change("BR-61", "merchant.iban", ({ seller }) => (seller.bank.iban = null)),
  ...["48", "54", "55"].map((code) =>
    change("BR-DE-24-a", "paymentMethod.meansCode", (c) => (c.paymentMeansCode = code)),
  ),
  change("BR-DE-25-a", "paymentMethod.meansCode", (c) => (c.paymentMeansCode = "59")),
  change("PEPPOL-EN16931-R061", "paymentMethod.meansCode", (c) => (c.paymentMeansCode = "49")),
  ...[
    "#SKONTO#TAGE=14#PROZENT=2#",
    "Payable at once.\n#SKONTO#TAGE=14#PROZENT=2,00#",
    "#Skonto#TAGE=14#PROZENT=2.00#\nThank you.",
    "#SKONTO#TAGE=14#PROZENT=2.00#BASISBETRAG=100#",
  ].map((terms) => change("BR-DE-18", "merchant.paymentTerms", (c) => (c.paymentTerms = terms))),
];

const others: Mutant[] = [
  change("BR-DE-15", "order.buyerReference", (c) => (c.buyerReference = null)),
  change("BR-DE-17", "invoice.typeCode", (c) => (c.typeCode = "386")),
  change("BR-DE-21", "invoiceForm.guideline", (c) => (c.standard.guideline = "urn:cen.eu:en16931:2017")),
  change(
    "BR-DE-26",
    "invoice.referencedDocumentNumber",
    (c) => Object.assign(c, { referencedDocumentNumber: null, referencedDocumentDate: null }),
    { base: cancellationOf(sampleInvoice()) },
  ),
  change("PEPPOL-EN16931-R001", "invoiceForm.businessProcess", (c) => (c.standard.businessProcess = null)),
  change("BR-53", "defaultCurrency", (c) => (c.currency.isoCode = "EUR"), {
    base: inDollars(sampleInvoice()),
    officially: "PEPPOL-EN16931-R005",
  }),
  change("PEPPOL-EN16931-R055", "order.exchangeRate", (c) => (c.taxInDefaultCurrency.tax *= -1), {
    base: inDollars(sampleInvoice()),
  }),
  change("PEPPOL-EN16931-R120", "order.lines[0].totalPrice", (c) => (c.lines[0].netPrice += 0.02)),
  change("PEPPOL-EN16931-R120", "order.lines[0].totalPrice", (c) => (c.lines[0].discount.amount -= 0.03)),
  change("PEPPOL-EN16931-R121", "order.lines[1].unitPrice", (c) => (c.lines[1].baseQuantity = 0)),
  change(
    "BR-IC-02",
    "customer.vatIds",
    (c) => Object.assign(c, { customerVatId: null, buyer: { ...c.buyer, vatId: null } }),
    {
      base: taxFreeInvoice("K"),
    },
  ),
];

export const mutantsOfXRechnung: Mutant[] = [...parties, ...payment, ...others];
