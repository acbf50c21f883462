import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { openNumberShop } from "./number-shop.ts";
import type { NumberShop } from "./number-shop.ts";
import { rehearseNumbers } from "./rehearse-numbers.ts";
import type { NumberRehearsal } from "./rehearse-numbers.ts";

// erp.number_proof: empty while no number of a document is missing, given twice, or yet to be given
let shop: NumberShop;
let outlet: string;
before(async () => {
  shop = await openNumberShop();
  await shop.order();
  outlet = await shop.openOutlet();
  await shop.order();
});
after(() => shop.close());

const rehearse = (work: (it: NumberRehearsal) => Promise<void>) => rehearseNumbers(shop, work);

describe("the proof of numbers", () => {
  it("is empty while numbers are right", () =>
    rehearse(async ({ make, faults }) => {
      assert.deepEqual(await faults(), []);
      await make("invoice", 3);
      await make("invoice", 2, { channel: outlet });
      await make("delivery_note", 3);
      assert.deepEqual(await faults(), []);
    }));

  it("finds gaps: in the middle, at the end, and at the beginning of a year", () =>
    rehearse(async ({ make, remove, faults }) => {
      await make("invoice", 7);
      await make("invoice", 3, { channel: outlet });
      await make("delivery_note", 3);
      await remove("RE-2031-3", "RE-2031-4", "RE-2031-6");
      assert.deepEqual(await faults(), [
        "gap of document_invoice 2031: no document, not RE-2031-3 to RE-2031-4",
        "gap of document_invoice 2031: no document, not RE-2031-6",
      ]);
      await remove("RE-2031-1", "RE-2031-2", "RE-2031-5", "OUT/1.2031", "OUT/3.2031", "DN-10003");
      assert.deepEqual(await faults(), [
        "gap of document_delivery_note: no document, not DN-10003",
        "gap of document_invoice 2031: no document, not RE-2031-1 to RE-2031-6",
        "gap of outlet_invoice 2031: no document, not OUT/1.2031",
        "gap of outlet_invoice 2031: no document, not OUT/3.2031",
      ]);
      await remove("RE-2031-7", "DN-10001", "DN-10002");
      assert.deepEqual((await faults()).slice(0, 1), [
        "gap of document_invoice 2031: no document, not RE-2031-1 to RE-2031-7",
      ]);
    }));

  it("takes the first number of a range without years from its documents", () =>
    rehearse(async ({ make, insert, sql, faults }) => {
      await sql("update erp.number_range set last_number = 500 where technical_name = 'document_storno'");
      assert.deepEqual(await faults(), []);
      await make("storno", 2);
      assert.deepEqual(await faults(), []);
      // Imported later, with a hole
      await insert("storno", "ST-499");
      assert.deepEqual(await faults(), ["gap of document_storno: no document, not ST-500"]);
    }));

  it("leaves numbers out that don't fit the pattern, such as imported ones", () =>
    rehearse(async ({ make, insert, faults }) => {
      await make("invoice", 2);
      for (const number of [
        "2019-1",
        "RE-2031-07",
        "RE-2031-0",
        "RE-31-9",
        "re-2031-9",
        "RE-2031-9b",
        "XRE-2031-9",
      ])
        await insert("invoice", number);
      await insert("invoice", `RE-2031-${"9".repeat(30)}`);
      await insert("invoice", "DN-10009");
      await insert("delivery_note", "RE-2031-9");
      assert.deepEqual(await faults(), []);
    }));

  it("finds counters behind their numbers", () =>
    rehearse(async ({ make, insert, sql, faults }) => {
      await make("invoice", 4);
      await make("delivery_note", 4);
      await sql("update erp.number_range_year set last_number = 2");
      await sql(
        "update erp.number_range set last_number = last_number - 1 where technical_name = 'document_delivery_note'",
      );
      assert.deepEqual(await faults(), [
        "last_number of document_delivery_note: 10003, not at least 10004",
        "last_number of document_invoice 2031: 2, not at least 4",
      ]);
      await sql("delete from erp.number_range_year");
      await insert("invoice", "RE-2030-1");
      assert.deepEqual((await faults()).slice(1), [
        "last_number of document_invoice 2030: 0, not at least 1",
        "last_number of document_invoice 2031: 0, not at least 4",
      ]);
    }));

  it("finds a number given twice by a range that two types share", () =>
    rehearse(async ({ make, insert, sql, faults }) => {
      await sql(
        "update erp.document_type set number_range = 'document_invoice' where technical_name = 'storno'",
      );
      await make("invoice", 2);
      await make("storno", 2);
      await make("invoice", 1);
      assert.deepEqual(await faults(), []);
      await insert("storno", "RE-2031-5");
      assert.deepEqual(await faults(), [
        "duplicate of document_invoice: 2 documents RE-2031-5, not one document",
      ]);
    }));

  it("finds ranges of a type that the same number fits", () =>
    rehearse(async ({ make, sql, faults }) => {
      await make("invoice", 2);
      await sql(
        "update erp.number_range set pattern = 'RE-{year}-{n}' where technical_name = 'outlet_invoice'",
      );
      assert.deepEqual(
        (await faults()).filter((fault) => fault.startsWith("pattern")),
        ["pattern of document_invoice, outlet_invoice: RE-2031-1 fits all of them, not one range"],
      );
    }));

  it("leaves ranges with a sequence out, and ranges that number no documents", () =>
    rehearse(async ({ make, remove, sql, faults }) => {
      await sql("create sequence erp.note_number");
      await sql(
        "update erp.number_range set sequence = 'erp.note_number' where technical_name = 'document_delivery_note'",
      );
      await make("delivery_note", 3);
      await remove("DN-2");
      await sql(
        "update erp.number_range set last_number = last_number + 5 where technical_name in ('order', 'goods_receipt')",
      );
      assert.deepEqual(await faults(), []);
    }));

  it("doesn't miss documents that may be deleted after their years", () =>
    rehearse(async ({ make, remove, sql, faults }) => {
      await make("delivery_note", 2, { at: "2021-06-01" });
      await make("delivery_note", 3, { at: "2022-06-01" });
      await make("delivery_note", 2, { at: "2023-01-01" });
      await make("delivery_note", 2, { at: "2031-01-01" });
      // Years 2022 and before are over: 8 years after
      await remove("DN-10001", "DN-10003", "DN-10005");
      assert.deepEqual(await faults(), []);
      await remove("DN-10007");
      assert.deepEqual(await faults(), ["gap of document_delivery_note: no document, not DN-10007"]);
      await sql("update erp.merchant set retention_years = 9");
      assert.deepEqual((await faults()).length, 2);
    }));

  it("judges the years in numbers by themselves", () =>
    rehearse(async ({ insert, sql, faults }) => {
      await sql(`insert into erp.number_range_year values
        ('document_invoice', 2022, 9), ('document_invoice', 2023, 3), ('document_invoice', 2031, 2)`);
      for (const number of ["2022-4", "2023-2", "2023-3", "2031-1", "2031-2"])
        await insert("invoice", `RE-${number}`);
      assert.deepEqual(await faults(), ["gap of document_invoice 2023: no document, not RE-2023-1"]);
    }));

  it("accepts gaps that somebody explained", () =>
    rehearse(async ({ make, remove, sql, faults }) => {
      const explain =
        "insert into erp.number_gap (number_range, year, first_number, last_number, reason) values ($1, $2, $3, $4, $5)";
      await sql("insert into erp.number_range_year values ('document_invoice', 2031, 5012)");
      await make("invoice", 3);
      await make("delivery_note", 3);
      await remove("RE-2031-5014", "DN-10002");
      await sql(explain, "document_invoice", 2031, 1, 5000, "Made by the former system");
      await sql(explain, "document_invoice", 2030, 5001, 5020, "Another year");
      await sql(explain, "document_delivery_note", null, 10_002, 10_002, "Lost in a crash");
      assert.deepEqual(await faults(), [
        "gap of document_invoice 2031: no document, not RE-2031-5001 to RE-2031-5012",
        "gap of document_invoice 2031: no document, not RE-2031-5014",
      ]);
      await sql(explain, "document_invoice", 2031, 5001, 5014, "Found later");
      assert.deepEqual(await faults(), []);
      await assert.rejects(sql(explain, "document_invoice", 2031, 1, 2, " "), {
        constraint: "number_gap_has_a_reason",
      });
    }));

  it("is part of ledger.proof, and of the doctor's report", () =>
    rehearse(async ({ make, remove, sql }) => {
      await make("delivery_note", 3);
      await remove("DN-10002");
      const row = {
        figure: "number_range.gap",
        id: "document_delivery_note",
        stored: "no document",
        expected: "DN-10002",
      };
      assert.deepEqual(await sql("select * from ledger.proof"), [row]);
      const health = await readFile(new URL("../../db/health/proof.sql", import.meta.url), "utf8");
      const [finding] = await sql(health.split(";\n")[1]!);
      assert.equal(finding.severity, "error");
      assert.equal(
        finding.what,
        "number_range.gap of document_delivery_note is no document, and the documents demand DN-10002.",
      );
      assert.match(finding.toDo, /erp\.number_gap/);
    }));
});
