import type { StructuredForm } from "./sample.ts";

/** Returns versions of a valid XRechnung that break one rule of each rule set, at least. */
export function breakRules(xml: string): { rule: string; xml: string; form: StructuredForm }[] {
  const without = (element: string) => {
    const broken = xml.replace(new RegExp(`<ram:${element}[ >].*?</ram:${element}>`), "");
    if (broken === xml) throw new Error(`The XML has no element ${element}.`);
    return broken;
  };
  return [
    { rule: "XML", xml: xml.slice(0, -1), form: "zugferd" },
    { rule: "XSD", xml: xml.replaceAll("GrandTotalAmount", "GreatTotalAmount"), form: "zugferd" },
    { rule: "BR-14", xml: without("GrandTotalAmount"), form: "zugferd" },
    { rule: "FX-SCH-A-000043", xml: without("GrandTotalAmount"), form: "zugferd" },
    { rule: "BR-DE-15", xml: without("BuyerReference"), form: "xrechnung" },
    { rule: "PEPPOL-EN16931-R020", xml: without("URIUniversalCommunication"), form: "xrechnung" },
  ];
}
