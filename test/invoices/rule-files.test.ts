import assert from "node:assert/strict";
import { test } from "node:test";
import { officialFaults } from "./official-rules.ts";
import { findRuleFiles, MissingRules } from "./rule-files.ts";

const variables = [
  "CII_SCHEMA",
  "EN16931_RULES",
  "XRECHNUNG_RULES",
  "FACTURX_SCHEMA",
  "FACTURX_RULES",
  "SAXON_JAR",
];

test("the rules are missing if a variable isn't set, which the message names", () => {
  const path = import.meta.filename;
  const all = Object.fromEntries(variables.map((name) => [name, path]));
  assert.equal(findRuleFiles(all).saxon, path);
  for (const name of variables) {
    assert.throws(
      () => findRuleFiles({ ...all, [name]: undefined }),
      (error: Error) => error instanceof MissingRules && error.message.includes(`Set ${name} to`),
    );
    assert.throws(
      () => findRuleFiles({ ...all, [name]: `${path}.missing` }),
      (error: Error) => error.message.includes(`${name} names ${path}.missing, which doesn't exist`),
    );
  }
});

test("nothing is accepted if a program is missing, or says nothing", async () => {
  const all = Object.fromEntries(variables.map((name) => [name, import.meta.filename]));
  const files = findRuleFiles({ ...all, XMLLINT: "no-such-program" });
  await assert.rejects(officialFaults(["<a/>"], "zugferd", files), /no-such-program isn't installed/);
  await assert.rejects(
    officialFaults(["<a/>"], "zugferd", { ...files, xmllint: "true" }),
    /validated 0 of 1/,
  );
});
