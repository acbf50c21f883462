import { randomBytes, randomUUID } from "node:crypto";
import type pg from "pg";
import { UserError } from "../errors/user-error.ts";
import { adapterDestinations, parseAdapterAddress } from "../labels/adapter.ts";
import { readSettings } from "../process/settings.ts";
import { secretPlace, Secrets } from "../secrets/secrets.ts";
import { table, UsageError } from "./terminal.ts";
import type { Result } from "./terminal.ts";
import { asOwner } from "./with-database.ts";

interface CarrierOptions {
  name?: string;
  url?: string;
  trackingUrl?: string;
  /** Whether labels are requested from it. */
  active?: boolean;
  newSecret?: true;
}

interface Carrier {
  technical_name: string;
  name: string;
  url: string;
  is_active: boolean;
}

const columns = "technical_name, name, url, is_active";

/** Adds or changes a carrier. A new one gets a secret, which is shown once. */
export async function setCarrier(technicalName: string, options: CarrierOptions): Promise<Result> {
  const { name, url, trackingUrl, active, newSecret } = options;
  const { carrierAllow, secretsKeys } = readSettings();
  if (url !== undefined) parseAdapterAddress(url, adapterDestinations(carrierAllow));
  return asOwner(async (owner) => {
    const { rows } = await owner.query("select id from erp.carrier where technical_name = $1", [
      technicalName,
    ]);
    const present = rows[0] as { id: string } | undefined;
    if (!present && (name === undefined || url === undefined))
      throw new UsageError(`${technicalName} is new: it needs --name and --url.`);
    const id = present?.id ?? randomUUID();
    const secret = present && !newSecret ? null : randomBytes(32).toString("base64url");
    const stored = secret && new Secrets(secretsKeys).seal(secret, secretPlace("carrier secret", id));
    const values = [id, technicalName, name, url, trackingUrl, active, stored];
    const carrier = await write(owner, present ? update : insert, values);
    return {
      json: { ...carrier, ...(secret !== null && { secret }) },
      text: `${describe([carrier])}${secret === null ? "" : `\n\n  secret  ${secret}   (shown only now)`}`,
    };
  });
}

export async function listCarriers(): Promise<Result> {
  const list = (owner: pg.Client) => owner.query<Carrier>(`select ${columns} from erp.carrier order by 1`);
  const { rows } = await asOwner(list);
  return { json: rows, text: rows.length > 0 ? describe(rows) : "There is no carrier yet." };
}

const insert = `
  insert into erp.carrier (id, technical_name, name, url, tracking_url_pattern, is_active, secret)
  values ($1, $2, $3, $4, $5, coalesce($6, true), $7) returning ${columns}`;
const update = `
  update erp.carrier set name = coalesce($3, name), url = coalesce($4, url),
    tracking_url_pattern = coalesce($5, tracking_url_pattern), is_active = coalesce($6, is_active),
    secret = coalesce($7, secret)
  where id = $1 and technical_name = $2 returning ${columns}`;

async function write(owner: pg.Client, text: string, values: unknown[]): Promise<Carrier> {
  try {
    return (await owner.query<Carrier>(text, values)).rows[0]!;
  } catch (error) {
    const { code, constraint } = error as pg.DatabaseError;
    if (code !== "23514") throw error;
    throw new UserError(rules[constraint!] ?? "A value is not valid.", { cause: error });
  }
}

/** Messages about checks of the table. */
const rules: Record<string, string> = {
  carrier_technical_name_is_a_word:
    "The technical name has lower-case letters, digits, - and _, such as dhl_express.",
  carrier_name_is_filled: "The name has 1 to 255 characters.",
  carrier_url_is_a_web_address: "The address is not one of https: or http:.",
  carrier_tracking_url_pattern_has_the_code:
    "The tracking address begins with https: or http:, and has {code}.",
};

const describe = (carriers: Carrier[]): string =>
  table([
    ["CARRIER", "NAME", "ADDRESS", "STATE"],
    ...carriers.map((one) => [one.technical_name, one.name, one.url, one.is_active ? "active" : "inactive"]),
  ]);
