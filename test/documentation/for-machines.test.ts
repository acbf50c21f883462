import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { changelogFeed } from "../../src/documentation/changelog-feed.ts";
import { guides, searchedGuides } from "../../src/documentation/guides.ts";
import { versions } from "../../src/versions/versions.ts";
import { read, startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

let service: TestService;
before(async () => {
  service = await startService({ versions });
});
after(() => service.close());

const get = async (path: string) => read(await fetch(service.url + path, { redirect: "manual" }));

test("llms.txt has a line for each page, and each of its links leads to a text", async () => {
  const { status, text, headers } = await get("/llms.txt");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
  assert.match(text, /^# Stock and order GraphQL\n\n> .*\n\n## Tutorials\n\n- \[Calling the API\]/);
  const addresses = [...text.matchAll(/^- \[.+?\]\((.+?)\)(?:: .+)?$/gm)].map(([, address]) => address!);
  for (const { path } of guides) assert.ok(addresses.includes(`${path}.md`), path);
  for (const { slug } of versions) assert.ok(addresses.includes(`/api/graphql/${slug}/schema.graphql`));
  for (const address of addresses) {
    const { status: found, headers: of } = await get(address);
    assert.deepEqual([found, /^text\/(plain|markdown);/.test(of.get("content-type")!)], [200, true], address);
  }
  const lines = text.split("\n").filter((line) => line.startsWith("- "));
  assert.equal(lines.length, addresses.length, "nothing but links");
});

test("llms-full.txt has the text of all guides, except the internals", async () => {
  const { text } = await get("/llms-full.txt");
  for (const { path } of guides)
    assert.equal(
      text.includes(`<!-- ${path} -->`),
      searchedGuides.some((guide) => guide.path === path),
      path,
    );
  assert.match(text, /^# Pagination and sorting$/m);
});

test("each guide is there as Markdown, whose links lead to pages, and says so in its head", async () => {
  const page = await get("/docs/guides/webhooks");
  assert.match(page.text, /<link rel="alternate" type="text\/markdown" href="\/docs\/guides\/webhooks\.md"/);
  const dead: string[] = [];
  const known = new Map<string, number>();
  for (const { path } of guides) {
    const { text } = await get(`${path}.md`);
    assert.match(text, /^# /, path);
    for (const [, address] of text.replace(/^```[^]*?^```$/gm, "").matchAll(/\]\(([^)]+)\)/g)) {
      const [target = ""] = address!.split("#");
      if (target === "" || /^https?:/.test(target)) continue;
      if (!known.has(target)) known.set(target, (await fetch(service.url + target)).status);
      if (known.get(target) !== 200) dead.push(`${path}: ${address}`);
    }
  }
  assert.deepEqual(dead, []);
});

test("the changelog is an Atom feed with an entry for each release", async () => {
  const { text, headers } = await get("/docs/changelog.atom");
  assert.equal(headers.get("content-type"), "application/atom+xml; charset=utf-8");
  assert.equal(XMLValidator.validate(text), true);
  const parser = new XMLParser({
    ignoreAttributes: false,
    isArray: (name) => name === "entry" || name === "link",
  });
  const { feed } = parser.parse(text);
  assert.equal(feed["@_xmlns"], "http://www.w3.org/2005/Atom");
  const moment = /^\d{4}-\d\d-\d\dT00:00:00Z$/;
  const identifier = /^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  for (const each of [feed, ...feed.entry]) {
    assert.match(each.id, identifier);
    assert.match(each.updated, moment);
    assert.ok(each.title);
  }
  assert.ok(feed.author.name);
  assert.equal(new Set(feed.entry.map(({ id }: { id: string }) => id)).size, feed.entry.length);
  assert.equal(feed.link.find((link: any) => link["@_rel"] === "self")["@_href"], "/docs/changelog.atom");
  const [{ content, link }] = feed.entry;
  assert.equal(content["@_type"], "html");
  assert.match(content["#text"], /<li>Added: <code>productsUpsert<\/code>/);
  const page = await get("/docs/changelog");
  const [path, anchor] = link[0]["@_href"].split("#");
  assert.equal(path, "/docs/changelog");
  assert.ok(page.text.includes(`id="${anchor}"`), anchor);
  assert.match(page.text, /<link\s+rel="alternate"\s+type="application\/atom\+xml"/);
});

test("a release without a date isn't in the feed", () => {
  const feed = changelogFeed(
    '<h2 id="u">Unreleased</h2>c<h2 id="b">[2.0.0] - 2026-02-01</h2>b<h2 id="a">[1.0.0] - 2026-01-01</h2>a',
  );
  assert.deepEqual(
    [...feed.matchAll(/changelog#(\w)|html">(\w)/g)].map(([, id, content]) => id ?? content),
    ["b", "b", "a", "a"],
  );
});
