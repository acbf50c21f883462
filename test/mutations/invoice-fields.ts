import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { addChannel } from "../bulk/support.ts";

type Rows = (rows: object[], more?: object) => Promise<any>;

/** A shop whose upserts answer the fields that invoices need. */
export interface InvoiceFieldShop extends ShippingShop {
  /** Rows that the upserts find, and make if they aren't there. */
  customerRow: { customerNumber: string; [field: string]: unknown };
  orderRow: { orderNumber: string; [field: string]: unknown };
  /** The row of the order with one line. */
  withLine(changes: object): { orderNumber: string; [field: string]: unknown };
  customers: Rows;
  orders: Rows;
  products: Rows;
}

const results = "results { outcome userErrors { code field } }";
const customerFields = "invoiceForm buyerReference electronicAddress electronicAddressScheme registrationId";
const orderFields =
  "buyerReference purchaseOrderNumber dueDate paidAmount exchangeRate exchangeRateDate exchangeRateSource";
const lineFields = "taxCategory exemptionCode discountReason unitCode";
const line = { identifier: "L", productNumber: "hammer", quantity: 2, unitPrice: 10 };

/** The outcomes in a payload of an upsert. */
export const outcomes = ({ results: rows }: any): string => rows.map(({ outcome }: any) => outcome).join(" ");

export async function openInvoiceFieldShop(): Promise<InvoiceFieldShop> {
  const shop = await openShippingShop();
  const salesChannelId = await addChannel(shop);
  const person = { email: "a@b.example", firstName: "A", lastName: "B" };
  const customerRow = { ...person, salesChannelId, customerNumber: "C-1" };
  const orderRow = { salesChannelId, orderNumber: "O-1" };
  const upsert =
    (resource: string, fields: string): Rows =>
    (rows, more = {}) =>
      shop.mutate(
        `${resource}Upsert`,
        { [resource]: rows, ...more },
        { select: `${results} ${resource} { ${fields} }` },
      );
  return {
    ...shop,
    customerRow,
    orderRow,
    withLine: (changes) => ({ ...orderRow, lineItems: [{ ...line, ...changes }] }),
    customers: upsert("customers", customerFields),
    orders: upsert("orders", `${orderFields} lineItems { edges { node { id ${lineFields} } } }`),
    products: upsert("products", "unitCode"),
  };
}
