import { add, mutant } from "./mutant.ts";
import type { Mutant, MutantOptions } from "./mutant.ts";
import { inDollars, sampleInvoice } from "./sample.ts";

const rounded = "the XML has two decimals";

const form = "zugferd";
const dollars = () => ({ base: inDollars(sampleInvoice({ form })) });

const header: Mutant[] = [
  mutant("BR-01", "invoiceForm.guideline", (c) => (c.standard.guideline = null), {
    unseen: "without it, there is no XML",
  }),
  mutant("BR-02", "invoice.documentNumber", (c) => (c.documentNumber = null)),
  mutant("BR-02", "invoice.documentNumber", (c) => (c.documentNumber = " ")),
  mutant("BR-03", "invoice.documentDate", (c) => (c.documentDate = null)),
  mutant("BR-04", "invoice.typeCode", (c) => (c.typeCode = null)),
  mutant("BR-CL-01", "invoice.typeCode", (c) => (c.typeCode = "999")),
  mutant("BR-05", "order.currency", (c) => (c.currency.isoCode = "")),
  mutant("BR-CL-04", "order.currency", (c) => (c.currency.isoCode = "EU")),
  mutant("BR-CL-04", "order.currency", (c) => (c.currency.isoCode = "EUR USD")),
  mutant("BR-29", "order.deliveryDate", (c) => (c.deliveryDate = { from: "2026-05-04", to: "2026-05-03" })),
  mutant("BR-53", "order.exchangeRate", (c) => (c.taxInDefaultCurrency.tax = null), dollars()),
  mutant("BR-53", "merchant.currency", (c) => (c.currency.isoCode = "EUR"), dollars()),
  mutant(
    "BR-CL-05",
    "merchant.currency",
    (c) => (c.taxInDefaultCurrency.currency.isoCode = "EUE"),
    dollars(),
  ),
];

const seller: Mutant[] = [
  mutant("BR-06", "merchant.legalName", (c) => (c.seller.legalName = "\t")),
  mutant("BR-08", "merchant.address", (c) => (c.seller.address = null)),
  mutant("BR-09", "merchant.address.countryIso", (c) => delete c.seller.address.countryIso),
  mutant("BR-CL-14", "merchant.address.countryIso", (c) => (c.seller.address.countryIso = "UK")),
  mutant("BR-CO-09", "merchant.vatId", (c) => (c.seller.vatId = "99999999")),
  mutant(["BR-CO-26", "BR-S-02"], "merchant.vatId", (c) => {
    Object.assign(c.seller, { vatId: null, taxNumber: null, register: null });
  }),
  mutant("BR-62", "merchant.electronicAddressScheme", (c) => (c.seller.electronicAddress.scheme = null)),
  mutant("BR-CL-25", "merchant.electronicAddressScheme", (c) => (c.seller.electronicAddress.scheme = "XY")),
];

const buyer: Mutant[] = [
  mutant("BR-07", "order.billingAddress", (c) => {
    Object.assign(c.billingAddress, { company: null, firstName: " ", lastName: null });
  }),
  mutant("BR-10", "order.billingAddress", (c) => (c.billingAddress = { company: "Bergwacht Süd e. V." })),
  mutant("BR-11", "order.billingAddress.countryIso", (c) => delete c.billingAddress.countryIso),
  mutant("BR-CL-14", "order.billingAddress.countryIso", (c) => (c.billingAddress.countryIso = "Germany")),
  mutant("BR-57", "order.shippingAddress.countryIso", (c) => (c.shippingAddress.countryIso = null)),
  mutant("BR-CL-14", "order.shippingAddress.countryIso", (c) => (c.shippingAddress.countryIso = "de")),
  mutant("BR-CO-09", "customer.vatIds", (c) => (c.buyer.vatId = "ZZ888888888")),
  mutant("BR-CO-09", "customer.vatIds", (c) => {
    c.buyer.vatId = null;
    c.customerVatId = "888888888";
  }),
  mutant("BR-63", "customer.electronicAddressScheme", (c) => delete c.buyer.electronicAddress.scheme),
  mutant("BR-CL-25", "customer.electronicAddressScheme", (c) => (c.buyer.electronicAddress.scheme = "1234")),
];

const payment: Mutant[] = [
  mutant("BR-49", "paymentMethod.meansCode", (c) => (c.paymentMeansCode = null)),
  mutant("BR-CL-16", "paymentMethod.meansCode", (c) => (c.paymentMeansCode = "99")),
  mutant("BR-61", "merchant.iban", (c) => (c.seller.bank.iban = null)),
  mutant(
    "BR-61",
    "merchant.iban",
    (c) => Object.assign(c, { paymentMeansCode: "30", seller: { ...c.seller, bank: null } }),
    // The rule only looks at the account, if there is one
    { officially: "CII-SR-470" },
  ),
];

const line = (rules: string | string[], field: string, change: object, options?: MutantOptions) =>
  mutant(rules, `order.lines[0].${field}`, (c) => Object.assign(c.lines[0], change), options);
const hammer = { label: "Hammer", quantity: 2, netPrice: 50 };
const oneLine = { base: sampleInvoice({ form, lines: [hammer] }) };
const free = { label: "Sticker", quantity: 1, netPrice: 0 };
const withFree = {
  base: sampleInvoice({ form, lines: [free, hammer] }),
};

const lines: Mutant[] = [
  mutant(
    "BR-16",
    "order.lines",
    (c) => {
      c.lines = [];
      Object.assign(c.totals, { lineNet: 0, net: 0, total: 0, due: 0 });
      Object.assign(c.totals.taxes[0], { net: 0, tax: 0 });
    },
    oneLine,
  ),
  line("BR-22", "quantity", { quantity: null }),
  line("BR-23", "unitCode", { unitCode: null }),
  line("BR-CL-23", "unitCode", { unitCode: "PCS" }),
  line("BR-24", "totalPrice", { net: null }, withFree),
  line("BR-25", "label", { label: "\u0001 " }),
  line("BR-26", "unitPrice", { netPrice: null }),
  line("BR-27", "unitPrice", { netPrice: -1 }),
  line("BR-41", "totalPrice", { discount: { amount: null, reason: "Loyal customer" } }),
  line("BR-CO-04", "taxCategory", { taxCategory: null }, withFree),
  line("BR-CL-18", "taxCategory", { taxCategory: "X" }, withFree),
  mutant(
    ["BR-DEC-23", "BR-DEC-09", "BR-DEC-12", "BR-DEC-14", "BR-DEC-18", "BR-DEC-19"],
    "order.lines[0].totalPrice",
    (c) => {
      add(0.001, c.lines[0], "net");
      add(0.001, c.totals, "lineNet", "net", "total", "due");
      add(0.001, c.totals.taxes[0], "net");
    },
    { unseen: rounded },
  ),
  mutant("BR-DEC-24", "order.lines[0].totalPrice", (c) => (c.lines[0].discount.amount = 9.991), {
    unseen: rounded,
  }),
];

/** Mutants of discounts (entries of `allowances`) or surcharges (of `charges`). */
const entries = (list: "allowances" | "charges", rules: string[]): Mutant[] => {
  const change = (rule: string[], value: object, options?: MutantOptions) =>
    mutant(rule, "order.lines", (c) => Object.assign(c[list][0], value), options);
  const sign = list === "charges" ? 1 : -1;
  const ofNothing = {
    base: sampleInvoice({
      form,
      [list]: [
        { amount: 0, reason: "Nothing" },
        { amount: 1, reason: "Other" },
      ],
    }),
  };
  const [noAmount, noCategory, decimals, sum] = rules as [string, string, string, string];
  return [
    change([noAmount], { amount: null }, ofNothing),
    change([noCategory], { taxCategory: null }, ofNothing),
    change(["BR-CL-17"], { taxCategory: "X" }, ofNothing),
    mutant(
      [decimals, sum, "BR-DEC-12", "BR-DEC-14", "BR-DEC-18", "BR-DEC-19"],
      "order.lines",
      (c) => {
        add(0.001, c[list][0], "amount");
        add(0.001, c.totals, list);
        add(0.001 * sign, c.totals, "net", "total", "due");
        add(0.001 * sign, c.totals.taxes[0], "net");
      },
      { unseen: rounded },
    ),
  ];
};

const sum = (rule: string, field: string, change: (totals: any) => void, options?: MutantOptions) =>
  mutant(rule, `invoice.totals.${field}`, (c) => change(c.totals), options);

const sums: Mutant[] = [
  ...["lineNet", "net", "total", "due"].map((key, i) => sum(`BR-${12 + i}`, key, (t) => (t[key] = null))),
  sum("BR-CO-10", "lineNet", (t) => add(2, t, "lineNet", "net", "total", "due")),
  sum("BR-CO-11", "allowances", (t) => {
    add(2, t, "allowances");
    add(-2, t, "net", "total", "due");
  }),
  sum("BR-CO-12", "charges", (t) => add(2, t, "charges", "net", "total", "due")),
  sum("BR-CO-13", "net", (t) => add(0.01, t, "net", "total", "due")),
  sum("BR-CO-15", "total", (t) => add(0.01, t, "total", "due")),
  sum("BR-CO-16", "due", (t) => add(0.01, t, "due")),
  sum("BR-CO-16", "due", (t) => (t.paid = 20)),
  mutant(
    ["BR-CO-18", "BR-S-01"],
    "invoice.totals.taxes",
    (c) => {
      Object.assign(c.totals, { taxes: [], total: c.totals.net, due: c.totals.net });
    },
    oneLine,
  ),
  mutant("BR-DEC-15", "invoice.taxInDefaultCurrency.tax", (c) => add(0.001, c.taxInDefaultCurrency, "tax"), {
    ...dollars(),
    unseen: rounded,
  }),
  mutant(
    ["BR-DEC-16", "BR-DEC-18"],
    "invoice.totals.paid",
    ({ totals }) => {
      add(0.001, totals, "paid");
      add(-0.001, totals, "due");
    },
    { unseen: rounded },
  ),
  mutant(
    ["BR-DEC-20", "BR-DEC-14", "BR-DEC-18"],
    "invoice.totals.taxes",
    ({ totals }) => {
      add(0.001, totals.taxes[0], "tax");
      add(0.001, totals, "total", "due");
    },
    { unseen: rounded },
  ),
];

export const mutantsOfDocuments: Mutant[] = [
  ...header,
  ...seller,
  ...buyer,
  ...payment,
  ...lines,
  ...entries("allowances", ["BR-31", "BR-32", "BR-DEC-01", "BR-DEC-10"]),
  ...entries("charges", ["BR-36", "BR-37", "BR-DEC-05", "BR-DEC-11"]),
  ...sums,
];
