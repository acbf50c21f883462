import { createPrivateKey, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import type { JobHelpers } from "graphile-worker";
import type { Secrets } from "../secrets/secrets.ts";
import { secretPlace } from "../secrets/secrets.ts";

/** The head that is due. Its text is what is signed; without a key, all are null. */
type Due = { keyId: string; secret: string; text: string } | { keyId: null };

/**
 * Signs the next head of the chain of stock valuation reports, or makes the key for it. Of several processes, one stores
 * the head, and the others continue with the next.
 *
 * @param moment the present
 * @returns whether a head was due
 */
export async function signNextHead(
  client: Pick<JobHelpers, "query">,
  secrets: Secrets,
  moment = new Date(),
): Promise<boolean> {
  const { rows } = await client.query<Due>(
    'select signing_key_id as "keyId", secret, text from valuation.next_head($1)',
    [moment],
  );
  const due = rows[0];
  if (!due) return false;
  if (due.keyId === null) {
    await client.query("select valuation.add_signing_key($1, $2, $3)", newValuationKey(secrets));
    return true;
  }
  // Nobody who can write to the database gets a signature of another time
  const { iat } = JSON.parse(Buffer.from(due.text.split(".")[1]!, "base64url").toString()) as { iat: number };
  if (iat !== Math.floor(moment.getTime() / 1000)) throw new Error("A head to sign has another time.");
  const pkcs8 = Buffer.from(secrets.open(due.secret, secretPlace("valuation key", due.keyId)), "base64");
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  const signature = sign(null, Buffer.from(due.text), key).toString("base64url");
  await client.query("select valuation.add_head($1, $2)", [`${due.text}.${signature}`, moment]);
  return true;
}

/** Generates a key that signs heads. Returns its id, its public key and its stored secret. */
export function newValuationKey(secrets: Secrets): [id: string, publicKey: string, secret: string] {
  const id = randomUUID();
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
  return [id, publicKey.export({ format: "jwk" }).x!, secrets.seal(pkcs8, secretPlace("valuation key", id))];
}
