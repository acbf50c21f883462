/** Why rules can't be broken, and their ids. The XML is what `erp.cii` makes of a config. */
const reasons: [why: string, ids: string][] = [
  // Another rule, which ours name, has the same condition
  ["BR-61 needs the IBAN, too", "BR-50"],
  ["BR-CL-04 and BR-CL-05 check the currencies, and there are no others", "BR-CL-03"],
  ["BR-48 needs the rate, too", "BR-DE-14"],
  ["BR-S-02, BR-Z-02, BR-E-02, BR-AE-02, BR-IC-02 and BR-G-02 need the number, too", "BR-DE-16"],
  ["BR-53 needs another currency, too", "PEPPOL-EN16931-R005"],
  ["BR-DE-25-a refuses the means of payment that they are about", "BR-DE-20 BR-DE-25-b"],
  ["BR-DE-24-a refuses the means of payment that it is about", "BR-DE-24-b"],

  // The XML always has it
  ["a discount or surcharge without a reason gets a code", "BR-33 BR-38 BR-42"],
  ["a discount or surcharge without a reason gets a code", "BR-CO-21 BR-CO-22 BR-CO-23"],
  ["the code stands alone, so that it contradicts no text", "BR-CO-05 BR-CO-06 BR-CO-07"],
  ["the codes are 95 for discounts and ADR for surcharges", "BR-CL-19 BR-CL-20"],
  ["each line has its position, which is a number", "BR-21"],
  ["an earlier invoice is only named by its number", "BR-55"],
  ["the scheme of a GTIN is 0160", "BR-64 BR-CL-21"],
  ["the tax is summed up for the XML, with two decimals", "BR-CO-14 BR-DEC-13"],
  ["there is one tax total, and a second one in another currency", "PEPPOL-EN16931-R053 PEPPOL-EN16931-R054"],
  ["the means of payment are always given", "BR-DE-1"],
  ["the unit of the price is that of the line", "PEPPOL-EN16931-R130"],
  ["empty elements are left out", "PEPPOL-EN16931-R008"],
  ["discounts are false and surcharges true", "PEPPOL-EN16931-R043-1 PEPPOL-EN16931-R043-2"],

  // The XML never has it
  ["there are no cards", "BR-51 BR-DE-23-b"],
  ["there are no mandates of direct debits", "BR-DE-30 BR-DE-31"],
  ["discounts and surcharges have no base amount", "BR-DEC-02 BR-DEC-06 BR-DEC-25 BR-DEC-28"],
  [
    "discounts and surcharges have no percentage",
    "PEPPOL-EN16931-R040 PEPPOL-EN16931-R041 PEPPOL-EN16931-R042",
  ],
  ["lines have no surcharges", "BR-43 BR-44 BR-CO-08 BR-CO-24 BR-DEC-27"],
  ["lines have no gross price", "BR-28 BR-TMP-3 PEPPOL-EN16931-R044 PEPPOL-EN16931-R046"],
  ["lines have no period", "BR-30 BR-CO-20 PEPPOL-EN16931-R110 PEPPOL-EN16931-R111"],
  ["lines have no other documents", "PEPPOL-EN16931-R101"],
  ["products have no attributes", "BR-54"],
  ["products have no classes", "BR-65 BR-CL-13"],
  ["products have no country of origin", "BR-CL-15"],
  ["the period has both days or is left out", "BR-CO-19"],
  ["there are no further documents or attachments", "BR-52 BR-CL-07 BR-CL-24 BR-DE-22 BR-TMP-2"],
  ["the payee is the seller", "BR-17"],
  ["there is no tax representative", "BR-18 BR-19 BR-20 BR-56"],
  ["the day of the tax is that of the delivery", "BR-CO-03 BR-CL-06"],
  ["no amount is rounded to what can be paid", "BR-DEC-17"],
  ["notes have no subject", "BR-CL-08"],
  ["numbers of parties and places have no scheme", "BR-CL-10 BR-CL-11 BR-CL-26"],
  [
    "orders have no category O (not subject to VAT), which BR-CL-18 refuses",
    "BR-O-01 BR-O-02 BR-O-03 BR-O-04 BR-O-05 BR-O-06 BR-O-07 BR-O-08 BR-O-09 BR-O-10 BR-O-11 BR-O-12 BR-O-13 BR-O-14",
  ],
  [
    "orders have no category L (Canary Islands), which BR-CL-18 refuses",
    "BR-AF-01 BR-AF-02 BR-AF-03 BR-AF-04 BR-AF-05 BR-AF-06 BR-AF-07 BR-AF-08 BR-AF-09 BR-AF-10",
  ],
  [
    "orders have no category M (Ceuta and Melilla), which BR-CL-18 refuses",
    "BR-AG-01 BR-AG-02 BR-AG-03 BR-AG-04 BR-AG-05 BR-AG-06 BR-AG-07 BR-AG-08 BR-AG-09 BR-AG-10",
  ],
  ["orders have no category B (Italy), which BR-CL-18 refuses", "BR-B-01 BR-B-02"],

  // Others
  ["it informs and doesn't refuse: an invoice may come before the delivery", "BR-DE-TMP-32"],
  [
    "it is for the extension of XRechnung",
    "BR-DEX-01 BR-DEX-04 BR-DEX-05 BR-DEX-06 BR-DEX-07 BR-DEX-08 BR-DEX-15",
  ],
  [
    "it is for purchases of vehicles",
    "BR-DE-CVD-01 BR-DE-CVD-02 BR-DE-CVD-03 BR-DE-CVD-04 BR-DE-CVD-05 BR-DE-CVD-06-a BR-DE-CVD-06-b BR-TMP-CVD-01",
  ],
];

/** Official rules that no config of ours can break alone, with the reason. */
export const unbrokenRules: Record<string, string> = Object.fromEntries(
  reasons.flatMap(([why, ids]) => ids.split(" ").map((id) => [id, why])),
);
