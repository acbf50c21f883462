import { Random } from "../lib/random.ts";
import {
  cancellationOf,
  creditNoteOf,
  inDollars,
  sampleAddress,
  sampleBuyer,
  sampleInvoice,
  sampleSeller,
} from "./sample.ts";
import type { StructuredForm } from "./sample.ts";
import { toCents } from "./sums.ts";
import type { EntryInput, LineInput } from "./sums.ts";

/** A tax category with its rate. */
interface Tax {
  taxCategory: string;
  taxRate: number;
}

const words = "Schraube café <b> & \"Öse\" 'Öl' 🙂 \u0007 größer 50 % Seil – 10 m ]]> &amp; naïve 東京".split(
  " ",
);
const units = ["C62", "H87", "KGM", "MTR", "LTR", "HUR", "XPK"];
const rates = [19, 7, 5.5, 20, 25];

/** Makes valid configs of structured invoices, the same for a seed at each run. */
export function* randomInvoices(count: number, seed: number): Generator<any, void> {
  const random = new Random(seed);
  for (let n = 0; n < count; n++) {
    const form = random.oneOf<StructuredForm>(["zugferd", "xrechnung"]);
    const invoice = withParties(random, randomSums(random, form, n), form);
    const currency = random.below(5) === 0 && invoice.taxStatus !== "tax-free" ? inDollars(invoice) : invoice;
    yield asType(currency, random.below(5));
  }
}

/** Turns some invoices into cancellations, credit notes and prepayment invoices. */
function asType(invoice: any, type: number): any {
  if (type === 0) return cancellationOf(invoice);
  if (type === 1) return creditNoteOf(invoice);
  // XRechnung has no type for prepayments
  if (type === 2 && invoice.form === "zugferd") {
    // Intra-Community supplies need a day (BR-IC-11)
    const needsDay = invoice.totals.taxes.some(({ category }: any) => category === "K");
    const deliveryDate = needsDay ? invoice.deliveryDate : null;
    return { ...invoice, documentType: "prepayment", typeCode: "386", deliveryDate };
  }
  return invoice;
}

/** Makes an invoice of random lines, discounts and taxes. */
function randomSums(random: Random, form: StructuredForm, n: number): any {
  const taxes = randomTaxes(random);
  const lines = Array.from({ length: 1 + random.below(random.oneOf([2, 8, 60])) }, () =>
    randomLine(random, random.oneOf(taxes)),
  );
  const entries = (most: number) =>
    Array.from({ length: random.below(most) }, () => randomEntry(random, random.oneOf(lines) as Tax));
  const amounts = { lines, allowances: entries(3), charges: entries(3) };
  const { totals } = sampleInvoice(amounts);
  const paid = totals.total > 0 ? random.oneOf([0, totals.total, toCents(totals.total / 3)]) : 0;
  return sampleInvoice(
    { form, ...amounts, paid },
    {
      documentNumber: `R-${n}`,
      dueDate: random.oneOf([null, "2026-05-18"]),
      paymentTerms: random.oneOf([null, randomText(random, 20)]),
      purchaseOrderNumber: maybe(random, randomText(random, 2)),
      deliveryDate: { from: "2026-05-03", to: random.oneOf(["2026-05-03", "2026-05-10"]) },
      paymentMethod: maybe(random, randomText(random, 3)),
      paymentMeansCode: random.oneOf(["58", "30", "ZZZ", "10", "68"]),
      locale: random.oneOf(["en-GB", "de-DE", "fr-FR"]),
      ...(taxes.some(({ taxRate }) => taxRate > 0) ? {} : { taxStatus: "tax-free" }),
    },
  );
}

/** Returns one to three taxes that may be on one invoice. */
function randomTaxes(random: Random): Tax[] {
  const standard = () => ({ taxCategory: "S", taxRate: random.oneOf(rates) });
  const none = (taxCategory: string) => ({ taxCategory, taxRate: 0 });
  switch (random.below(6)) {
    case 0:
      return [none(random.oneOf(["K", "G", "E", "AE"]))];
    case 1:
      return [standard(), none(random.oneOf(["Z", "E", "AE"]))];
    case 2:
      return [standard(), standard(), standard()];
    default:
      return [standard()];
  }
}

function randomLine(random: Random, tax: Tax): LineInput {
  const baseQuantity = random.oneOf([1, 1, 1, 10, 100, 1000]);
  const quantity = random.oneOf([1, 2, 3, 12, 144, 1 + random.below(10_000)]);
  const decimals = random.oneOf([1, 2, 4]);
  const netPrice = Number(random.between(0, 10 ** random.below(5)).toFixed(decimals));
  const gross = toCents((quantity * netPrice) / baseQuantity);
  const reason = maybe(random, randomText(random, 3)) as string;
  const discount = random.below(4) === 0 ? { amount: toCents(gross * random.next()), reason } : null;
  return {
    ...tax,
    quantity,
    netPrice,
    baseQuantity,
    discount,
    label: randomText(random, 8),
    description: maybe(random, randomText(random, 40)),
    productNumber: maybe(random, `P-${random.below(1_000)}`),
    unitCode: random.oneOf(units),
    gtin: random.oneOf([null, "4006381333931"]),
  };
}

function randomEntry(random: Random, { taxCategory, taxRate }: Tax): EntryInput {
  const amount = toCents(random.between(0.01, 9));
  return { amount, reason: randomText(random, 3), taxCategory, taxRate };
}

/** Gives an invoice a random seller and buyer, with what its taxes and form demand. */
function withParties(random: Random, invoice: any, form: StructuredForm): any {
  const categories = new Set<string>(invoice.totals.taxes.map(({ category }: any) => category));
  const country = categories.has("K") ? "AT" : categories.has("G") ? "CH" : random.oneOf(["DE", "FR"]);
  const needsVatId = categories.has("K") || categories.has("AE");
  const isCompany = needsVatId || random.below(2) === 0;
  const billingAddress = {
    ...sampleAddress,
    company: isCompany ? randomText(random, 3) : null,
    department: maybe(random, "Einkauf"),
    firstName: isCompany ? maybe(random, "Zoë") : "Zoë",
    street: maybe(random, randomText(random, 2)),
    countryStateName: maybe(random, "Tirol"),
    countryIso: country,
  };
  const electronicAddress = { id: "buyer@example.org", scheme: "EM" };
  return {
    ...invoice,
    billingAddress,
    shippingAddress: random.oneOf([
      billingAddress,
      { ...billingAddress, company: null, firstName: "Ida", city: "Linz" },
    ]),
    customerVatId: null,
    buyer: {
      ...sampleBuyer,
      vatId: needsVatId ? `${country}U12345678` : null,
      registrationId: maybe(random, "HRB 1"),
      email: maybe(random, "buyer@example.org"),
      electronicAddress: form === "xrechnung" ? electronicAddress : maybe(random, electronicAddress),
    },
    buyerReference: form === "xrechnung" ? "04011000-12345-03" : maybe(random, randomText(random, 1)),
    seller: {
      ...sampleSeller,
      // Some categories need the VAT number
      vatId: [...categories].every((category) => category === "E") ? null : sampleSeller.vatId,
      register: maybe(random, sampleSeller.register),
      managers: maybe(random, sampleSeller.managers),
      bank: { ...sampleSeller.bank, bic: maybe(random, sampleSeller.bank.bic) },
    },
  };
}

const maybe = <T>(random: Random, value: T): T | null => (random.below(3) === 0 ? null : value);

/** Returns up to that many words, at least one with letters. */
function randomText(random: Random, most: number): string {
  const more = Array.from({ length: random.below(most) }, () => random.oneOf(words));
  return ["Ware", ...more].join(" ");
}
