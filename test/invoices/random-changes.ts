import { Random } from "../lib/random.ts";
import { validInvoices } from "./valid-invoices.ts";

/** An invoice with one changed value. */
export interface RandomChange {
  name: string;
  config: any;
}

/** Values that only programs write, such as dates, or that the XML doesn't have. */
const unchanged = /^(form|documentType|title|locale|typeCode|standard)\b|date|exchangeRate|position|kind/i;
const texts = [null, "", " ", "X", "S", "AE", "EM", "DE123"];

/** Makes that many changed invoices. The changes may break a rule or not. */
export function randomChanges(count: number, seed: number): RandomChange[] {
  const random = new Random(seed);
  const valid = validInvoices();
  return Array.from({ length: count }, () => {
    const [invoice, base] = random.oneOf(valid);
    const config = JSON.parse(JSON.stringify(base));
    const [path, object, key] = random.oneOf(placesIn(config).filter(([path]) => !unchanged.test(path)));
    const old = object[key];
    const value = typeof old === "number" ? random.oneOf([null, -old, old + 2, 0]) : random.oneOf(texts);
    object[key] = value;
    return { name: `${invoice}: ${path} = ${JSON.stringify(value)}`, config };
  });
}

/** Returns the texts and numbers in a value: the path of each, the object that has it, and its key there. */
function placesIn(value: any, path: string[] = []): [path: string, object: any, key: string][] {
  return Object.entries(value ?? {}).flatMap(([key, inner]): [string, any, string][] => {
    const place = [...path, key];
    if (inner !== null && typeof inner === "object") return placesIn(inner, place);
    return ["string", "number"].includes(typeof inner) ? [[place.join("."), value, key]] : [];
  });
}
