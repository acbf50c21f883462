import { add, mutant } from "./mutant.ts";
import type { Mutant } from "./mutant.ts";
import { taxFreeInvoice } from "./sample.ts";
import type { EntryInput, LineInput } from "./sums.ts";

const form = "zugferd";
const categories = ["S", "Z", "E", "AE", "K", "G"];
const idOf = (category: string, number: string) => `BR-${category === "K" ? "IC" : category}-${number}`;
const taxes = "invoice.totals.taxes";

const rateOf = (taxCategory: string) => (taxCategory === "S" ? 19 : 0);
const item = (taxCategory: string, changes: Partial<LineInput> = {}): LineInput => ({
  label: "Hammer",
  quantity: 2,
  netPrice: 50,
  taxCategory,
  taxRate: rateOf(taxCategory),
  ...changes,
});
const entry = (taxCategory: string, taxRate = rateOf(taxCategory)): EntryInput[] => [
  { amount: 10, reason: "Other", taxCategory, taxRate },
];

/** An invoice of one category, or with lines of another one too. */
const invoiceOf = (category: string, lines: LineInput[] = [item(category)], rest: object = {}) =>
  taxFreeInvoice(category, { form, lines, ...rest });

/** The number or numbers that a category needs are missing: of the seller, or of the buyer. */
const withoutSeller = ({ seller }: any) => Object.assign(seller, { vatId: null, taxNumber: null });
const withoutBuyer = (config: any) =>
  Object.assign(config, {
    customerVatId: null,
    buyer: { ...config.buyer, vatId: null, registrationId: null },
  });

/** The rules 02 to 04: lines, discounts and surcharges need numbers. */
function ofNumbers(category: string): Mutant[] {
  const needs02 = idOf(category, "02");
  // A line of another category, which doesn't need the buyer's number
  const other = category === "S" ? "Z" : "S";
  const mixed = (list: string) => ({ base: invoiceOf(category, [item(other)], { [list]: entry(category) }) });
  const lists = [
    ["allowances", "03"],
    ["charges", "04"],
  ] as const;
  return [
    mutant(needs02, "merchant.vatId", withoutSeller, { base: invoiceOf(category) }),
    ...lists.map(([list, number]) =>
      mutant([idOf(category, number), idOf(other, "02")], "merchant.vatId", withoutSeller, mixed(list)),
    ),
    ...(["AE", "K"].includes(category)
      ? [
          mutant(needs02, "customer.vatIds", withoutBuyer, { base: invoiceOf(category) }),
          ...lists.map(([list, number]) =>
            mutant(idOf(category, number), "customer.vatIds", withoutBuyer, mixed(list)),
          ),
        ]
      : []),
    ...(["K", "G"].includes(category)
      ? [
          mutant(needs02, "merchant.vatId", ({ seller }) => (seller.vatId = null), {
            base: invoiceOf(category),
          }),
        ]
      : []),
    ...(category === "K"
      ? [
          mutant(
            needs02,
            "customer.vatIds",
            (c) => Object.assign(c, { customerVatId: null, buyer: { ...c.buyer, vatId: null } }),
            { base: invoiceOf(category) },
          ),
        ]
      : []),
  ];
}

/** The rules 05 to 07: rates of lines, discounts and surcharges. */
function ofRates(category: string): Mutant[] {
  const wrong = category === "S" ? 0 : 19;
  const lists = [
    ["allowances", "06"],
    ["charges", "07"],
  ] as const;
  if (category === "S") {
    const none = () => {};
    return [
      mutant("BR-S-05", "order.lines[0].taxRate", none, {
        base: invoiceOf("S", [item("S", { taxRate: wrong })]),
      }),
      ...lists.map(([list, number]) =>
        mutant(idOf("S", number), "order.lines", none, {
          base: invoiceOf("S", [item("S")], { [list]: entry("S", wrong) }),
        }),
      ),
    ];
  }
  return [
    ...[wrong, null].map((taxRate) =>
      mutant(idOf(category, "05"), "order.lines[0].taxRate", (c) => (c.lines[0].taxRate = taxRate), {
        base: invoiceOf(category),
      }),
    ),
    ...lists.map(([list, number]) =>
      mutant(idOf(category, number), "order.lines", (c) => (c[list][0].taxRate = wrong), {
        base: invoiceOf(category, [item(category)], { [list]: entry(category) }),
      }),
    ),
  ];
}

/** The rules 01, 08, 09 and 10: rows of the taxes. */
function ofRows(category: string): Mutant[] {
  const other = category === "S" ? "Z" : "S";
  const mixed = { base: invoiceOf(category, [item(other), item(category)]) };
  const base = invoiceOf(category);
  const rowOf = (config: any) => config.totals.taxes.find((row: any) => row.category === category);
  const isExplained = !["S", "Z"].includes(category);
  return [
    mutant(
      idOf(category, "01"),
      taxes,
      (c) => {
        const { tax } = rowOf(c);
        c.totals.taxes = c.totals.taxes.filter((row: any) => row.category !== category);
        add(-tax, c.totals, "total", "due");
      },
      mixed,
    ),
    ...(category === "S"
      ? []
      : [
          mutant(idOf(category, "01"), taxes, (c) => c.totals.taxes.push({ ...rowOf(c), net: 0 }), {
            base: invoiceOf(category, [item(category, { netPrice: 0 })]),
          }),
          mutant(
            idOf(category, "01"),
            taxes,
            (c) => c.totals.taxes.push({ ...rowOf({ totals: base.totals }), net: 0 }),
            {
              base: invoiceOf("S", [item("S")]),
            },
          ),
        ]),
    mutant(idOf(category, "08"), taxes, (c) => add(2, rowOf(c), "net"), { base }),
    mutant(
      idOf(category, "09"),
      taxes,
      (c) => {
        add(2, rowOf(c), "tax");
        add(2, c.totals, "total", "due");
      },
      { base },
    ),
    ...(isExplained
      ? [
          mutant(
            idOf(category, "10"),
            taxes,
            (c) => Object.assign(rowOf(c), { reason: null, exemptionCode: " " }),
            { base },
          ),
        ]
      : [
          mutant(idOf(category, "10"), taxes, (c) => (rowOf(c).reason = "Reverse charge"), { base }),
          mutant(idOf(category, "10"), taxes, (c) => (rowOf(c).exemptionCode = "VATEX-EU-AE"), { base }),
        ]),
  ];
}

const row = (rules: string | string[], change: object, base?: any) =>
  mutant(rules, taxes, (c) => Object.assign(c.totals.taxes[0], change), { base });

const others: Mutant[] = [
  // The sample has another row of the category
  row("BR-45", { net: null }),
  mutant("BR-46", taxes, ({ totals }) => {
    const [first] = totals.taxes;
    add(-first.tax, totals, "total", "due");
    first.tax = null;
  }),
  row("BR-47", { category: null }),
  row("BR-48", { rate: null }),
  row("BR-CL-18", { category: "X" }),
  row("BR-CO-17", { rate: 19 }, invoiceOf("AE")),
  row("BR-CL-22", { exemptionCode: "VATEX-EU-XX" }, invoiceOf("E")),
  mutant("BR-IC-11", "order.deliveryDate", (c) => (c.deliveryDate = null), { base: invoiceOf("K") }),
  mutant(
    "BR-IC-12",
    "order.shippingAddress.countryIso",
    (c) => (c.shippingAddress = { lastName: "Becker" }),
    {
      base: invoiceOf("K"),
    },
  ),
];

export const mutantsOfTaxes: Mutant[] = [
  ...categories.flatMap((category) => [...ofRows(category), ...ofNumbers(category), ...ofRates(category)]),
  ...others,
];
