import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hasCheckDigit, readScannedCode } from "../../src/codes/scanned-code.ts";

const gtin = "04006381333931";
const fnc1 = "\u001d";

describe("readScannedCode", () => {
  it("reads GTINs of each length", () => {
    for (const [code, expected] of [
      ["96385074", "00000096385074"],
      ["036000291452", "00036000291452"],
      ["4006381333931", gtin],
      ["14006381333938", "14006381333938"],
      ["]E04006381333931", gtin],
    ])
      assert.equal(readScannedCode(code!).gtin, expected, code);
  });

  it("leaves other texts as they are", () => {
    for (const text of [
      "hammer",
      "4006381333932",
      "12345678",
      "",
      "(99)abc",
      "01",
      "0104006381333932",
      "https://a",
    ])
      assert.deepEqual(readScannedCode(text), { text }, text);
    assert.deepEqual(readScannedCode(" AU-0001 "), { text: "AU-0001" });
  });

  it("reads elements with and without FNC1, and in parentheses", () => {
    const expected = { gtin, batch: "AB/7", best_before: "2026-12-31" };
    for (const text of [
      `01${gtin}15261231` + "10AB/7",
      `]C101${gtin}10AB/7${fnc1}15261231`,
      `]d2${fnc1}01${gtin}10AB/7${fnc1}15261231`,
      `${fnc1}01${gtin}15261231` + "10AB/7",
      `(01)${gtin}(10)AB/7(15)261231`,
    ])
      assert.deepEqual(readScannedCode(text), { text, ...expected });
  });

  it("reads serial numbers, counts and the last day of a month", () => {
    const text = `01${gtin}15270200` + "21S-1";
    assert.deepEqual(readScannedCode(text), { text, gtin, best_before: "2027-02-28", serial: "S-1" });
    assert.deepEqual(readScannedCode(`02${gtin}3712`), { text: `02${gtin}3712`, gtin, count: 12 });
    assert.equal(readScannedCode(`01${gtin}3040`).count, 40);
  });

  it("reads the number of a container", () => {
    const text = "00340123450000000017";
    const sscc = text.slice(2);
    assert.equal(hasCheckDigit(sscc), readScannedCode(text).sscc === sscc);
    assert.deepEqual(readScannedCode("00106141411234567897"), {
      text: "00106141411234567897",
      sscc: "106141411234567897",
    });
  });

  it("reads GS1 Digital Links", () => {
    const link = `https://example.com/shop/01/${gtin}/10/A%2FB?15=261231&lang=de`;
    assert.deepEqual(readScannedCode(link), {
      text: link,
      gtin,
      batch: "A/B",
      best_before: "2026-12-31",
    });
    assert.equal(readScannedCode("https://id.gs1.org/01/4006381333931").gtin, gtin);
    assert.deepEqual(readScannedCode("https://example.com/01/%ZZ"), { text: "https://example.com/01/%ZZ" });
    assert.deepEqual(readScannedCode(`https://example.com/01/${gtin}/10/%ZZ`), {
      text: `https://example.com/01/${gtin}/10/%ZZ`,
    });
  });
});
