import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDateTime } from "../../plugins/date-time.ts";

describe("DateTime inputs", () => {
  const moments: [string, string][] = [
    ["2026-06-30T08:15:00+00:00", "2026-06-30T08:15:00.000Z"],
    ["2026-06-30T08:15:00Z", "2026-06-30T08:15:00.000Z"],
    ["2026-06-30T08:15:00.125Z", "2026-06-30T08:15:00.125Z"],
    ["2026-06-30T00:15:00+02:00", "2026-06-29T22:15:00.000Z"],
    ["2026-12-31T23:59:59-23:59", "2027-01-01T23:58:59.000Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["0099-12-31T00:00:00Z", "0099-12-31T00:00:00.000Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"],
  ];
  for (const [text, moment] of moments) {
    it(`reads ${text}`, () => assert.equal(parseDateTime(text), moment));
  }

  const wrong: unknown[] = [
    "",
    "now",
    "2026-06-30",
    "2026-06-30 08:15:00Z",
    "2026-06-30T08:15Z",
    "2026-06-30T08:15:00",
  ];
  wrong.push(
    "2026-02-30T00:00:00Z",
    "2025-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
  );
  wrong.push(
    "2026-06-30T24:00:00Z",
    "2026-06-30T23:60:00Z",
    "2026-06-30T23:59:60Z",
    "2026-06-30T08:15:00+24:00",
    "2026-06-30T08:15:00+0000",
  );
  wrong.push(
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+10:00",
    "9999-12-31T23:59:59-10:00",
    "10000-01-01T00:00:00Z",
  );
  wrong.push(
    "2026-06-30T08:15:00.0001Z",
    "infinity",
    "2026-06-30t08:15:00z",
    " 2026-06-30T08:15:00Z",
    1782800000,
    null,
    {},
    "x".repeat(1e6),
  );
  for (const text of wrong) {
    it(`refuses ${String(JSON.stringify(text)).slice(0, 60)}`, () => {
      assert.throws(() => parseDateTime(text), { extensions: { code: "BAD_USER_INPUT" } });
    });
  }
});
