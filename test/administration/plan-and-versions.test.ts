import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { versionOf, versions as everyVersion } from "../../src/versions/versions.ts";
import { query, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { until } from "../lib/until.ts";
import { loggedIn, textOf } from "./browser.ts";
import type { HttpBrowser } from "./browser.ts";

let service: TestService;
let visitor: HttpBrowser;
before(async () => {
  service = await startService({ versions: everyVersion });
  visitor = await loggedIn(service, "anna");
});
after(() => service.close());

test("the plan is shown, and a change takes effect, is noted, and is shown on the page of API credentials", async () => {
  const token = await service.token();
  const status = async () => (await service.ask(token, { query })).status;
  assert.match((await visitor.get("/admin/plan")).html, /value="full"\s+checked/);
  assert.doesNotMatch(textOf(await visitor.get("/admin/tokens")), /Show the plan/);

  const { location } = await visitor.post("/admin/plan", { plan: "none" });
  const page = await visitor.get(location!);
  assert.match(textOf(page), /The plan has been changed/);
  assert.match(page.html, /value="none"\s+checked/);
  await until(async () => (await status()) === 402);
  assert.match(textOf(await visitor.get("/admin/tokens")), /every request is refused/);

  await visitor.post("/admin/plan", { plan: "read_only" });
  await until(async () => (await status()) === 200);
  assert.match(textOf(await visitor.get("/admin/tokens")), /mutations are refused/);
  await visitor.post("/admin/plan", { plan: "full" });
  await visitor.post("/admin/plan", { plan: "full" });

  const { rows } = await service.owner.query(
    "select subject, details->>'old_plan' as old from auth.audit_event where action = 'plan.changed' order by id",
  );
  assert.deepEqual(rows, [
    { subject: "none", old: "full" },
    { subject: "read_only", old: "none" },
    { subject: "full", old: "read_only" },
  ]);
  assert.match(
    textOf(await visitor.get("/admin/activity")),
    /Changed the plan to Full Previous plan: Read only/,
  );
});

test("a plan that isn't offered is refused", async () => {
  for (const plan of ["", "gold", "constructor"])
    assert.equal((await visitor.post("/admin/plan", { plan })).status, 400);
});

test("the limits are those of the settings and of the plan; changing the plan here leaves them", async () => {
  await service.owner.query(`select auth.set_plan('full', '{"cost": 4321}')`);
  assert.match(textOf(await visitor.get("/admin/plan")), /Points of one operation 4,321/);
  await visitor.post("/admin/plan", { plan: "read_only" });
  assert.doesNotMatch(textOf(await visitor.get("/admin/plan")), /4,321/);
  await visitor.post("/admin/plan", { plan: "full" });
  assert.match(textOf(await visitor.get("/admin/plan")), /4,321/);
});

test("a change at the command line is noted too", async () => {
  await service.owner.query("select auth.set_plan('read_only')");
  await service.owner.query("select auth.set_plan('full')");
  const { rows } = await service.owner.query(
    "select actor, action, subject from auth.audit_event order by id desc limit 2",
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row).join(" ")),
    ["command line plan.changed full", "command line plan.changed read_only"],
  );
});

test("versions are shown with their dates and the API credentials that use them", async () => {
  const versions = [
    versionOf({ slug: "2026-06-unstable", releasedOn: "2026-06-15" }),
    { ...versionOf({ slug: "2027-01", releasedOn: "2027-01-01" }), schemaName: "api_2026_06_unstable" },
    versionOf({ slug: "unstable" }),
  ];
  const credentials = await service.credential({ name: "Old client" });
  await service.owner.query(
    `select auth.record_use(jsonb_build_array(
       jsonb_build_object('credential_id', $1::text, 'day', current_date, 'version', '2026-06-unstable', 'requests', 40, 'last_used_at', now()),
       jsonb_build_object('credential_id', $1::text, 'day', current_date - 1, 'version', '2026-06-unstable', 'requests', 2, 'last_used_at', now()),
       jsonb_build_object('credential_id', $1::text, 'day', current_date - 40, 'version', 'unstable', 'requests', 5, 'last_used_at', now())))`,
    [credentials.id],
  );
  const later = await service.another({ versions, now: () => Date.parse("2027-02-01") });
  const response = await fetch(`${later.url}/admin/versions`, {
    headers: { cookie: `service-session=${visitor.cookies.get("service-session")}` },
  });
  const text = textOf({ html: await response.text() } as Parameters<typeof textOf>[0]);
  assert.match(
    text,
    /2026-06-unstable Deprecated .*An API credential uses this version\. .* by 1 Apr 2027.*Released 15 Jun 2026 Deprecated from 1 Jan 2027 Ends on 1 Apr 2027/,
  );
  assert.match(text, /Old client \d+ \w+ \d{4} 42/);
  assert.match(
    text,
    /2027-01 Served Stable.*Released 1 Jan 2027 Deprecated from 1 Nov 2027 Ends on 1 Feb 2028.*No API credential used it/,
  );
  const unstable = text.slice(text.indexOf("unstable Served The newest"));
  assert.ok(unstable.startsWith("unstable Served"));
  assert.ok(!unstable.includes("Old client"), "what is older than 30 days doesn't count");
});
