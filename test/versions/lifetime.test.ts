import assert from "node:assert/strict";
import { test } from "node:test";
import { timetable } from "../../src/versions/timetable.ts";
import { isServed, retirementOf } from "../../src/versions/lifetime.ts";
import { versionOf, versions } from "../../src/versions/versions.ts";

const preview = versionOf({ slug: "2026-06-unstable", releasedOn: "2026-06-15" });
const stable = versionOf({ slug: "2027-01", releasedOn: "2027-01-12" });
const next = versionOf({ slug: "2027-04", releasedOn: "2027-04-05" });
const unstable = versionOf({ slug: "unstable" });
const all = [preview, stable, next, unstable];

const dates = (of: typeof preview, among: readonly (typeof preview)[]) => {
  const retirement = retirementOf(of, among);
  return (
    retirement &&
    [retirement.deprecatedAt, retirement.sunsetAt].map((time) => new Date(time).toISOString().slice(0, 10))
  );
};

test("kinds and Postgres schemas follow from slugs", () => {
  assert.deepEqual(
    all.map(({ kind, schemaName }) => [kind, schemaName]),
    [
      ["preview", "api_2026_06_unstable"],
      ["stable", "api_2027_01"],
      ["stable", "api_2027_04"],
      ["floating", "api_unstable"],
    ],
  );
});

test("a stable version is served to the end of the twelfth month after that of its release", () => {
  assert.deepEqual(dates(stable, [stable]), ["2027-11-01", "2028-02-01"]);
  const december = versionOf({ slug: "2027-10", releasedOn: "2027-10-31" });
  assert.deepEqual(dates(december, [december]), ["2028-08-01", "2028-11-01"]);
});

test("a preview is served for three months after the next stable version has come", () => {
  assert.equal(dates(preview, [preview, unstable]), null);
  assert.deepEqual(dates(preview, all), ["2027-01-12", "2027-04-12"]);
  const late = versionOf({ slug: "2027-01", releasedOn: "2027-01-31" });
  assert.deepEqual(dates(preview, [preview, late]), ["2027-01-30", "2027-04-30"]);
  const old = versionOf({ slug: "2026-04", releasedOn: "2026-04-01" });
  assert.equal(dates(preview, [preview, old]), null);
});

test("unstable is always served", () => {
  assert.equal(dates(unstable, all), null);
  assert.ok(isServed(unstable, all, 0));
  assert.ok(isServed(unstable, all, Date.parse("2999-01-01")));
});

test("a version is served from the day of its release to the day before the last", () => {
  const served = (time: string) => isServed(stable, all, Date.parse(time));
  assert.equal(served("2027-01-11T23:59:59.999Z"), false);
  assert.equal(served("2027-01-12T00:00:00Z"), true);
  assert.equal(served("2028-01-31T23:59:59.999Z"), true);
  assert.equal(served("2028-02-01T00:00:00Z"), false);
});

test("the timetable says of each version what state it is in", () => {
  const states = (time: string) => timetable(all, Date.parse(time)).map(({ state }) => state);
  assert.deepEqual(states("2026-12-01"), ["served", "announced", "announced", "served"]);
  assert.deepEqual(states("2027-02-01"), ["deprecated", "served", "announced", "served"]);
  assert.deepEqual(states("2027-12-01"), ["retired", "deprecated", "served", "served"]);
});

test("the versions of the service begin with the one to start with, and have unstable", () => {
  assert.equal(versions[0]!.slug, "2026-06-unstable");
  assert.equal(versions.at(-1)!.kind, "floating");
});
