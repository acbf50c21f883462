/** A line as a test writes it; `sampleConfig` adds the amounts. */
export interface LineInput {
  label: string;
  quantity: number;
  /** Price without tax, of `baseQuantity` units. */
  netPrice: number;
  baseQuantity?: number;
  /** Discount on the line, without tax. */
  discount?: { amount: number; reason: string } | null;
  taxCategory?: string;
  taxRate?: number;
  unitCode?: string;
  gtin?: string | null;
  productNumber?: string | null;
  description?: string | null;
}

/** A discount or surcharge on the whole document, without tax. */
export interface EntryInput {
  amount: number;
  reason: string;
  taxCategory?: string;
  taxRate?: number;
}

/** Why a category has no tax, as the data of a merchant have it. */
const reasons: Record<string, { exemptionCode: string | null; reason: string | null }> = {
  AE: { exemptionCode: "VATEX-EU-AE", reason: "Reverse charge" },
  K: { exemptionCode: "VATEX-EU-IC", reason: "VAT-exempt intra-Community supply" },
  G: { exemptionCode: "VATEX-EU-G", reason: "VAT-exempt export" },
  E: { exemptionCode: null, reason: "Exemption for small enterprises" },
};

/** Rounds to cents, halves away from zero. */
export function toCents(amount: number): number {
  const cents = Math.round(Math.abs(amount) * 100 + 1e-6);
  return cents === 0 ? 0 : (Math.sign(amount) * cents) / 100;
}

const sumOf = (amounts: number[]) => toCents(amounts.reduce((sum, amount) => sum + amount, 0));

/** Makes a line of a config, with its net amount. */
function sumLine(input: LineInput, index: number) {
  const { label, quantity, netPrice, baseQuantity = 1, discount = null } = input;
  const net = toCents(toCents((quantity * netPrice) / baseQuantity) - (discount?.amount ?? 0));
  return {
    kind: "line",
    position: index + 1,
    label,
    description: input.description ?? null,
    productNumber: input.productNumber ?? null,
    quantity,
    unitPrice: toCents(netPrice / baseQuantity),
    total: net,
    isShare: false,
    net,
    netPrice,
    baseQuantity,
    discount,
    taxCategory: input.taxCategory ?? "S",
    taxRate: input.taxRate ?? (input.taxCategory ? 0 : 19),
    unitCode: input.unitCode ?? "C62",
    gtin: input.gtin ?? null,
  };
}

function sumEntry(input: EntryInput) {
  const { amount, reason, taxCategory = "S" } = input;
  return { amount, reason, taxCategory, taxRate: input.taxRate ?? (taxCategory === "S" ? 19 : 0) };
}

/** Returns the taxes by category and rate. */
function sumTaxes(entries: { net: number; taxCategory: string; taxRate: number }[]) {
  const groups = Map.groupBy(entries, ({ taxCategory, taxRate }) => `${taxRate} ${taxCategory}`);
  return [...groups.values()].map((group) => {
    const { taxCategory: category, taxRate: rate } = group[0]!;
    const net = sumOf(group.map((entry) => entry.net));
    const reason = reasons[category] ?? { exemptionCode: null, reason: null };
    return { category, rate, net, tax: toCents((net * rate) / 100), ...reason };
  });
}

/** Returns the lines, allowances, charges and totals of a config. */
export function amountsOf(
  lineInputs: LineInput[],
  {
    allowances = [],
    charges = [],
    paid = 0,
  }: Partial<Record<"allowances" | "charges", EntryInput[]>> & {
    paid?: number;
  } = {},
): any {
  const lines = lineInputs.map(sumLine);
  const discounts = allowances.map(sumEntry);
  const surcharges = charges.map(sumEntry);
  const taxes = sumTaxes([
    ...lines,
    ...discounts.map((entry) => ({ ...entry, net: -entry.amount })),
    ...surcharges.map((entry) => ({ ...entry, net: entry.amount })),
  ]);
  const net = sumOf(taxes.map((tax) => tax.net));
  const total = sumOf([net, ...taxes.map((tax) => tax.tax)]);
  return {
    lines,
    allowances: discounts,
    charges: surcharges,
    totals: {
      lineNet: sumOf(lines.map((line) => line.net)),
      allowances: sumOf(discounts.map((entry) => entry.amount)),
      charges: sumOf(surcharges.map((entry) => entry.amount)),
      net,
      taxes,
      total,
      paid,
      due: toCents(total - paid),
    },
  };
}
