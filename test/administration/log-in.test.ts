import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  createAdministrator,
  deactivateAdministrator,
  resetPassword,
} from "../../src/auth/administrators.ts";
import { clientNetwork } from "../../src/lib/network-of.ts";
import { administrationPath } from "../../src/administration/session.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";
import { loggedIn, password, textOf, HttpBrowser } from "./browser.ts";

let service: TestService;
before(async () => {
  service = await startService({ settings: { explorer: false, trustProxy: "loopback" } });
  await createAdministrator(service.owner, "Anna@example.com", password);
});
after(() => service.close());
beforeEach(() => service.owner.query("delete from auth.log_in_attempt"));

const sessionsOf = async (visitor: HttpBrowser) => (await visitor.get("/admin/tokens")).status;
const wrong = { name: "anna@example.com", password: "no such password" };

test("who hasn't logged in is sent to do so, and comes back to the page", async () => {
  const visitor = new HttpBrowser(service.url);
  const { status, location } = await visitor.get("/admin/activity?before=x");
  assert.equal(status, 303);
  assert.equal(location, "/admin/log-in?next=%2Fadmin%2Factivity%3Fbefore%3Dx");
  const next = "/admin/activity?before=x";
  const back = await visitor.post("/admin/log-in", { name: "anna@example.com", password, next });
  assert.deepEqual([back.status, back.location], [303, next]);
  assert.equal(await sessionsOf(visitor), 200);
});

test("the cookie can't be read by scripts nor sent from elsewhere, and the database has only its hash", async () => {
  const visitor = new HttpBrowser(service.url);
  const { headers } = await visitor.post("/admin/log-in", { name: "ANNA@EXAMPLE.COM", password });
  const [cookie] = headers.getSetCookie();
  assert.match(cookie!, /^service-session=as_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  const token = visitor.cookies.get("service-session")!;
  const { rows } = await service.owner.query(
    "select to_jsonb(s)::text as row, token_hash = sha256($1::bytea) as found from auth.administrator_session s",
    [token],
  );
  assert.ok(rows.some(({ found }) => found));
  assert.ok(!JSON.stringify(rows).includes(token.slice(3)));
});

test("over HTTPS cookies are for HTTPS only", async () => {
  const visitor = new HttpBrowser(service.url);
  visitor.headers = { "x-forwarded-proto": "https" };
  const { headers } = await visitor.post("/admin/log-in", { name: "anna@example.com", password });
  assert.match(
    headers.getSetCookie()[0]!,
    /^__Host-service-session=as_[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  assert.match(headers.get("strict-transport-security")!, /max-age/);
  assert.equal(await sessionsOf(visitor), 200);
});

test("a wrong password, an unknown name and a deactivated administrator are answered alike", async () => {
  await createAdministrator(service.owner, "gone", password);
  await deactivateAdministrator(service.owner, "GONE");
  const answers = [];
  for (const entered of [
    wrong,
    { name: "nobody", password },
    { name: "gone", password },
    { name: "a\0b", password },
  ]) {
    const visitor = new HttpBrowser(service.url);
    const answer = await visitor.post("/admin/log-in", entered);
    assert.equal(answer.status, 422);
    assert.match(textOf(answer), /The name or the password is wrong\./);
    assert.ok(!visitor.cookies.has("service-session"));
    assert.ok(!answer.html.includes(entered.password), "the password doesn't come back");
    answers.push(textOf(answer));
  }
  assert.equal(new Set(answers).size, 1);
});

test("an unknown name is compared with a password all the same", async () => {
  // Equal costs of the hashes mean equal times
  const { isPassword, hashPassword } = await import("../../src/auth/passwords.ts");
  assert.equal(await isPassword(null, password), false);
  assert.equal(await isPassword(await hashPassword(password), password), true);
  assert.match(await hashPassword("x"), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test("missing entries are named, each at its field", async () => {
  const visitor = new HttpBrowser(service.url);
  const answer = await visitor.post("/admin/log-in", { name: " ", password: "" });
  assert.equal(answer.status, 422);
  assert.match(answer.html, /<a href="#name">Enter your name/);
  assert.match(answer.html, /<a href="#password">Enter your password/);
  assert.match(answer.html, /id="password"[^>]*aria-describedby="password-error"[^>]*aria-invalid="true"/);
  assert.match(answer.html, /<title>Error: Log in/);
});

test("after five failures log-ins from that address under that name are refused, in any process, even with the right password", async () => {
  const other = await service.another();
  for (let attempt = 0; attempt < 5; attempt++) {
    const visitor = new HttpBrowser(attempt % 2 ? other.url : service.url);
    assert.equal((await visitor.post("/admin/log-in", wrong)).status, 422);
  }
  for (const { url } of [service, other]) {
    const answer = await new HttpBrowser(url).post("/admin/log-in", { ...wrong, password });
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers.get("retry-after")) > 60);
    assert.match(textOf(answer), /failed too often\. Wait \d+ minutes/);
  }
  const elsewhere = new HttpBrowser(service.url);
  elsewhere.headers = { "x-forwarded-for": "192.0.2.7" };
  await elsewhere.logIn("anna@example.com");
  await new HttpBrowser(service.url).post("/admin/log-in", { name: "somebody else", password });
});

test("another spelling of a name that Postgres takes for the same counts as the same", async () => {
  await createAdministrator(service.owner, "kim", password);
  await new HttpBrowser(service.url).logIn("K\u0130M");
  const spellings = ["kim", "K\u0130M", "KIM", "k\u0130m", "\u212Aim"];
  for (const name of spellings) {
    const answer = await new HttpBrowser(service.url).post("/admin/log-in", { ...wrong, name });
    assert.equal(answer.status, 422);
  }
  for (const name of spellings) {
    const answer = await new HttpBrowser(service.url).post("/admin/log-in", { name, password });
    assert.equal(answer.status, 429, name);
  }
});

test("attempts that succeed don't count", async () => {
  for (let attempt = 0; attempt < 7; attempt++) await new HttpBrowser(service.url).logIn("anna@example.com");
});

test("an address that tries many names is stopped, and others are not", async () => {
  for (let attempt = 0; attempt < 30; attempt++) {
    await service.owner.query(
      `insert into auth.log_in_attempt (key, points, expire) values ('address:2001:db8:0:1::/64', 1, $1)
       on conflict (key) do update set points = log_in_attempt.points + 1`,
      [Date.now() + 60_000],
    );
  }
  const visitor = new HttpBrowser(service.url);
  visitor.headers = { "x-forwarded-for": "2001:db8:0:1::99" };
  assert.equal((await visitor.post("/admin/log-in", { name: "x", password })).status, 429);
  visitor.headers = { "x-forwarded-for": "2001:db8:0:2::99" };
  assert.equal((await visitor.post("/admin/log-in", { name: "x", password })).status, 422);
});

test("addresses of one network count together", () => {
  assert.equal(clientNetwork("192.0.2.7"), "192.0.2.7");
  assert.equal(clientNetwork("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(clientNetwork("2001:db8::1"), "2001:db8::/64");
  assert.equal(clientNetwork("2001:db8:0:1:2:3:4:5"), "2001:db8:0:1::/64");
  assert.equal(clientNetwork("::1"), "::/64");
});

test("an address that isn't a trusted proxy's word doesn't count", async () => {
  const strict = await service.another({ settings: { explorer: false } });
  for (let attempt = 0; attempt < 6; attempt++) {
    const visitor = new HttpBrowser(strict.url);
    visitor.headers = { "x-forwarded-for": `192.0.2.${attempt}` };
    const { status } = await visitor.post("/admin/log-in", wrong);
    assert.equal(status, attempt < 5 ? 422 : 429);
  }
});

test("logging in again ends the session that the browser had", async () => {
  const visitor = await loggedIn(service, "again");
  const token = visitor.cookies.get("service-session")!;
  await visitor.logIn("again");
  assert.notEqual(visitor.cookies.get("service-session"), token);
  assert.equal(await sessionsOf(visitor), 200);
  visitor.cookies.set("service-session", token);
  assert.equal(await sessionsOf(visitor), 303);
});

test("an invalid address, as a proxy may send, shuts no one out", async () => {
  const visitor = new HttpBrowser(service.url);
  visitor.headers = { "x-forwarded-for": "unknown" };
  await visitor.logIn("anna@example.com");
});

test("logging out ends the session, for the token too", async () => {
  const visitor = await loggedIn(service);
  const token = visitor.cookies.get("service-session")!;
  const { status, location } = await visitor.post("/admin/log-out", {}, { on: "/admin/account" });
  assert.deepEqual([status, location], [303, "/admin/log-in?done=out"]);
  assert.ok(!visitor.cookies.has("service-session"));
  visitor.cookies.set("service-session", token);
  assert.equal(await sessionsOf(visitor), 303);
});

test("sessions end 12 hours after they began, and after 60 minutes without use; the page says so", async () => {
  for (const change of [
    "started_at = now() - interval '12 hours 1 minute', last_seen_at = now()",
    "last_seen_at = now() - interval '61 minutes'",
  ]) {
    const visitor = await loggedIn(service);
    const own = "where token_hash = sha256($1::bytea)";
    const token = visitor.cookies.get("service-session");
    await service.owner.query(
      `update auth.administrator_session set started_at = now() - interval '11 hours 50 minutes', last_seen_at = now() - interval '50 minutes' ${own}`,
      [token],
    );
    assert.equal(await sessionsOf(visitor), 200);
    await service.owner.query(`update auth.administrator_session set ${change} ${own}`, [token]);
    const { status, location } = await visitor.get("/admin/account");
    assert.deepEqual([status, location], [303, "/admin/log-in?next=%2Fadmin%2Faccount&done=page"]);
    assert.match(textOf(await visitor.get(location!)), /Your session has ended\. Log in to continue/);
  }
});

test("using a session keeps it alive", async () => {
  const visitor = await loggedIn(service);
  const token = visitor.cookies.get("service-session");
  await service.owner.query(
    "update auth.administrator_session set last_seen_at = now() - interval '30 minutes' where token_hash = sha256($1::bytea)",
    [token],
  );
  await visitor.get("/admin/tokens");
  const { rows } = await service.owner.query(
    "select last_seen_at > now() - interval '1 minute' as fresh from auth.administrator_session where token_hash = sha256($1::bytea)",
    [token],
  );
  assert.equal(rows[0].fresh, true);
});

test("a form sent after the session has ended changes nothing, and leads back to its page", async () => {
  const visitor = await loggedIn(service);
  const { rows: before } = await service.owner.query("select count(*) from auth.credential");
  await service.owner.query("delete from auth.administrator_session");
  const { status, location } = await visitor.postRaw(
    "/admin/tokens/new",
    { name: "x" },
    { headers: { referer: `${service.url}/admin/tokens/new` } },
  );
  assert.deepEqual([status, location], [303, "/admin/log-in?next=%2Fadmin%2Ftokens%2Fnew&done=form"]);
  assert.match(textOf(await visitor.get(location!)), /nothing was changed/);
  assert.deepEqual((await service.owner.query("select count(*) from auth.credential")).rows, before);
});

test("one is only ever led to pages of the administration", () => {
  for (const bad of [
    undefined,
    "https://evil.example/",
    "/admin/../evil",
    "/other",
    "javascript:alert(1)",
    "/admin/log-out",
    "/admin/log-in?next=/admin/log-in",
    "/admin\\@evil.example",
    "http://[",
  ])
    assert.equal(administrationPath(bad), "/admin", bad);
  assert.equal(administrationPath("//evil.example/admin/tokens"), "/admin/tokens", "the path alone");
  assert.equal(administrationPath("/admin/tokens/new?x=1"), "/admin/tokens/new?x=1");
  assert.equal(administrationPath("http://127.0.0.1:4000/admin/activity"), "/admin/activity");
});

test("changing the password ends other sessions, keeps this one, and takes the new password from then on", async () => {
  const visitor = await loggedIn(service, "changer");
  const elsewhere = new HttpBrowser(service.url);
  await elsewhere.logIn("changer");
  const chosen = "another long password";
  const { location } = await visitor.post("/admin/account", { present: password, chosen, repeated: chosen });
  assert.equal(location, "/admin/account?done=password");
  assert.match(textOf(await visitor.get(location)), /Your password has been changed/);
  assert.equal(await sessionsOf(elsewhere), 303);
  await new HttpBrowser(service.url).logIn("changer", chosen);
  assert.equal(
    (await new HttpBrowser(service.url).post("/admin/log-in", { name: "changer", password })).status,
    422,
  );
});

test("passwords that won't do are refused, each with its reason, and never shown", async () => {
  const visitor = await loggedIn(service, "chooser");
  const good = "another long password";
  for (const [fields, reason] of [
    [{ present: "wrong", chosen: good, repeated: good }, /The current password is wrong/],
    [{ present: password, chosen: "short", repeated: "short" }, /at least 12 characters/],
    [{ present: password, chosen: "x".repeat(201), repeated: "x".repeat(201) }, /more than 200/],
    [{ present: password, chosen: "aaaaaaaaaaaaaaaa", repeated: "aaaaaaaaaaaaaaaa" }, /repeats too few/],
    [
      { present: password, chosen: "I am the chooser!", repeated: "I am the chooser!" },
      /must not contain your name/,
    ],
    [{ present: password, chosen: good, repeated: `${good}!` }, /two new passwords differ/],
    [{}, /The current password is wrong/],
  ] as const) {
    const answer = await visitor.post("/admin/account", fields);
    assert.equal(answer.status, 422);
    assert.match(textOf(answer), reason);
    for (const secret of Object.values(fields)) assert.ok(!answer.html.includes(`value="${secret}"`));
  }
  await new HttpBrowser(service.url).logIn("chooser");
});

test("a password reset at the command line ends all sessions", async () => {
  const visitor = await loggedIn(service, "reset");
  await resetPassword(service.owner, "reset", "a quite different one");
  assert.equal(await sessionsOf(visitor), 303);
  await new HttpBrowser(service.url).logIn("reset", "a quite different one");
});

test("deactivating an administrator ends their sessions", async () => {
  const visitor = await loggedIn(service, "leaver");
  await deactivateAdministrator(service.owner, "leaver");
  assert.equal(await sessionsOf(visitor), 303);
});

test("the token of a live session is no access token: UNAUTHORIZED; any other like it is UNAUTHENTICATED", async () => {
  const visitor = await loggedIn(service);
  const token = visitor.cookies.get("service-session")!;
  const live = await service.ask(token, { query: "{ __typename }" });
  assert.deepEqual([live.status, live.codes], [403, ["UNAUTHORIZED"]]);
  for (const other of [`as_${"x".repeat(43)}`, token.slice(0, -1), "as_", token.slice(3)]) {
    const { status, codes } = await service.ask(other, { query: "{ __typename }" });
    assert.deepEqual([status, codes], [401, ["UNAUTHENTICATED"]], other);
  }
  await visitor.post("/admin/log-out", {}, { on: "/admin/account" });
  const ended = await service.ask(token, { query: "{ __typename }" });
  assert.deepEqual([ended.status, ended.codes], [401, ["UNAUTHENTICATED"]]);
});
