import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { sign } from "../../src/webhooks/message.ts";

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const body = JSON.stringify({ type: "order.created", data: { name: "Höhenweg “Ü”" } });
const [current, previous] = [newSecret(), newSecret()];

/** The standard's rule, without its package. */
function signatureOf(secret: string, id: string, timestamp: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${content}`).digest("base64")}`;
}

test("receivers verify a message with the package of the standard", () => {
  const headers = sign("evt_1", body, [current], Date.now());
  assert.deepEqual(new Webhook(current).verify(body, { ...headers }), JSON.parse(body));
});

test("the signature is the one that the standard describes", () => {
  const headers = sign("evt_1", body, [current], 1_767_225_600_999);
  assert.deepEqual(headers, {
    "webhook-id": "evt_1",
    "webhook-timestamp": "1767225600",
    "webhook-signature": signatureOf(current, "evt_1", "1767225600", body),
  });
});

test("after a rotation receivers verify with the old secret as well as with the new one", () => {
  const headers = { ...sign("evt_1", body, [current, previous], Date.now()) };
  assert.match(headers["webhook-signature"], /^v1,\S+ v1,\S+$/);
  for (const secret of [current, previous])
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
  assert.throws(() => new Webhook(newSecret()).verify(body, headers), /No matching signature/);
});

for (const [what, change] of Object.entries({
  "another body": (headers: Record<string, string>) => [`${body} `, headers] as const,
  "another id": (headers: Record<string, string>) => [body, { ...headers, "webhook-id": "evt_2" }] as const,
  "another time": (headers: Record<string, string>) => {
    const moved = String(Number(headers["webhook-timestamp"]) + 1);
    return [body, { ...headers, "webhook-timestamp": moved }] as const;
  },
})) {
  test(`${what} doesn't go with the signature`, () => {
    const [changedBody, headers] = change({ ...sign("evt_1", body, [current], Date.now()) });
    assert.throws(() => new Webhook(current).verify(changedBody, headers), /No matching signature/);
  });
}
