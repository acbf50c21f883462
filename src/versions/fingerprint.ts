import { hash } from "node:crypto";

const firstOwnOid = 16_384;

/** Returns a hash of a catalog that ignores the OIDs of objects, which change whenever these are recreated. */
export function computeFingerprint(catalog: string): string {
  const numbers = new Map<string, number>();
  const numbered = catalog.replace(/"(\d{5,10})"/g, (text, oid: string) => {
    if (Number(oid) < firstOwnOid) return text;
    if (!numbers.has(oid)) numbers.set(oid, numbers.size);
    return `#${numbers.get(oid)}`;
  });
  return hash("sha256", numbered);
}
