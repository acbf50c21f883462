import {
  cancellationOf,
  creditNoteOf,
  inDollars,
  sampleInvoice,
  standards,
  taxFreeInvoice,
} from "./sample.ts";
import type { StructuredForm } from "./sample.ts";

const hammer = { label: "Hammer", quantity: 2, netPrice: 50 };

/** Invoices that break no rule, in both forms. */
export function validInvoices(): [name: string, config: any][] {
  const forms = Object.keys(standards) as StructuredForm[];
  return forms.flatMap((form) => {
    const invoices: Record<string, any> = {
      invoice: sampleInvoice({ form }),
      "invoice over one line": sampleInvoice({ form, lines: [hammer] }),
      "paid invoice": sampleInvoice({ form, paid: 20 }),
      "invoice in dollars": inDollars(sampleInvoice({ form })),
      "invoice before the delivery": sampleInvoice({ form }, { deliveryDate: null }),
      "credit note": creditNoteOf(sampleInvoice({ form })),
      cancellation: cancellationOf(inDollars(sampleInvoice({ form }))),
      "discount for early payment": sampleInvoice(
        { form },
        { paymentTerms: "#SKONTO#TAGE=14#PROZENT=2.00#\n#SKONTO#TAGE=7#PROZENT=3.00#BASISBETRAG=100.00#" },
      ),
      "invoice to the billing address": sampleInvoice({ form }, { shippingAddress: null }),
      "invoice with cash": sampleInvoice({ form }, { paymentMeansCode: "10" }),
      "invoice of a small business": taxFreeInvoice("E", { form }),
      "invoice of two categories": sampleInvoice({ form, lines: [hammer, { ...hammer, taxCategory: "AE" }] }),
    };
    for (const category of ["Z", "E", "AE", "K", "G"]) {
      invoices[`invoice of the category ${category}`] = taxFreeInvoice(category, { form });
      invoices[`invoice of the category ${category} to the billing address`] = taxFreeInvoice(
        category,
        { form },
        { shippingAddress: null },
      );
    }
    return Object.entries(invoices).map(([name, config]): [string, any] => [`${form}: ${name}`, config]);
  });
}
