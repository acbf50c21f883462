import type { ClientBase } from "pg";
import { UserError } from "../../errors/user-error.ts";

/** A customer, and the ids of all that is about them: what commands use of erp.about_customer. */
export interface FoundCustomer {
  customer: string;
  number: string;
  email: string;
  orders: string[];
  fulfillment_orders: string[];
  documents: string[];
}

/** @throws {UserError} when there is none, or when they are several */
export async function findCustomer(client: ClientBase, given: string): Promise<FoundCustomer> {
  const { rows } = await client.query<FoundCustomer>(
    `select a.* from erp.customer c cross join erp.about_customer(c.id) a
     where c.id::text = $1 or c.customer_number = $2 or lower(c.email) = lower($2)`,
    [given.replace(/^gid:\/\/service\/Customer\//, "").toLowerCase(), given],
  );
  if (rows.length === 0) throw new UserError("There is no customer with this id, number or e-mail address.");
  if (rows.length > 1) {
    const numbers = rows.map(({ number }) => number).join(", ");
    throw new UserError(`There are several, with the numbers ${numbers}. Name one by its number.`);
  }
  return rows[0]!;
}
