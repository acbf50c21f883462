import { sampleInvoice } from "./sample.ts";

/** An invoice that breaks rules. */
export interface Mutant {
  /** The rules that `erp.invoice_faults` finds, and no others. The first one is the point. */
  rules: string[];
  /** Where the first rule says to mend the data. */
  field: string;
  config: any;
  /** The rule by which the official rules reject it, if not the first one. */
  officially?: string;
  /** Why its XML doesn't show the official rules what is wrong. */
  unseen?: string;
}

/** Further properties of a mutant. `base` is the valid invoice that is changed. */
export interface MutantOptions extends Pick<Mutant, "officially" | "unseen"> {
  base?: any;
}

/** Makes a mutant: `change` changes a copy of a valid invoice. */
export function mutant(
  rules: string | string[],
  field: string,
  change: (config: any) => void,
  { base = sampleInvoice({ form: "zugferd" }), ...rest }: MutantOptions = {},
): Mutant {
  // Without shared objects, such as one address for two purposes
  const config = JSON.parse(JSON.stringify(base));
  change(config);
  return { rules: [rules].flat(), field, config, ...rest };
}

/** Adds an amount to fields of an object. */
export function add(amount: number, object: any, ...keys: string[]): void {
  for (const key of keys) object[key] = Math.round((object[key] + amount) * 1_000) / 1_000;
}
