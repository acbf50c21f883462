import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { Secrets, UnreadableSecret } from "../../src/secrets/secrets.ts";

const newKey = () => randomBytes(32).toString("base64");
const place = "some.table/1";

describe("Secrets", () => {
  it("opens what it has sealed, which looks different each time and tells nothing", () => {
    const secrets = new Secrets([newKey()]);
    const [one, two] = [secrets.seal("a secret ü", place), secrets.seal("a secret ü", place)];
    assert.equal(secrets.open(one, place), "a secret ü");
    assert.notEqual(one, two);
    assert.match(one, new RegExp(`^sealed:v1:${secrets.currentKeyId}:`));
    assert.ok(!one.includes(Buffer.from("a secret").toString("base64url")));
  });

  it("opens in no other place", () => {
    const secrets = new Secrets([newKey()]);
    assert.throws(() => secrets.open(secrets.seal("x", place), "some.table/2"), UnreadableSecret);
  });

  it("opens nothing that was changed, at any byte", () => {
    const secrets = new Secrets([newKey()]);
    const [, , , content] = secrets.seal("x", place).split(":");
    const bytes = Buffer.from(content!, "base64url");
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes);
      changed[index]! ^= 1;
      const text = `sealed:v1:${secrets.currentKeyId}:${changed.toString("base64url")}`;
      assert.throws(() => secrets.open(text, place), UnreadableSecret, String(index));
    }
    for (const length of [0, 1, 12, 27]) {
      const text = `sealed:v1:${secrets.currentKeyId}:${bytes.subarray(0, length || 1).toString("base64url")}`;
      assert.throws(() => secrets.open(text, place), UnreadableSecret);
    }
  });

  it("seals with its first key, and opens with all", () => {
    const [old, fresh] = [newKey(), newKey()];
    const [before, both, later] = [new Secrets([old]), new Secrets([fresh, old]), new Secrets([fresh])];
    assert.equal(both.open(before.seal("x", place), place), "x");
    assert.equal(later.open(both.seal("x", place), place), "x");
    const { currentKeyId } = before;
    assert.throws(() => later.open(before.seal("x", place), place), {
      message: `SECRETS_KEY lacks the key ${currentKeyId}, which encrypts ${place}.`,
    });
  });

  it("without keys keeps secrets as they are; with keys reads plain ones too", () => {
    const plain = new Secrets([]);
    assert.equal(plain.seal("whsec_x", place), "whsec_x");
    assert.equal(new Secrets([newKey()]).open("whsec_x", place), "whsec_x");
    assert.throws(() => plain.open(new Secrets([newKey()]).seal("x", place), place), UnreadableSecret);
  });
});
