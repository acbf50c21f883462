import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import express from "express";
import { pino } from "pino";
import { createAdministrator } from "../../src/auth/administrators.ts";
import { findUpsert } from "../../src/bulk/upserts.ts";
import { createCredential } from "../../src/auth/credentials.ts";
import { check } from "../../src/check/check.ts";
import { lints } from "../../src/check/lints.ts";
import { readDemo } from "../../src/commands/demo.ts";
import { defaultLimits } from "../../src/graphql/limits.ts";
import { withClient } from "../../src/postgres/client.ts";
import { HttpBrowser, password, textOf } from "../administration/browser.ts";
import { Project } from "../commands/project.ts";
import { sequence } from "../events/support.ts";
import { startService } from "../lib/service.ts";
import type { TestService } from "../lib/service.ts";

const root = new URL("../../", import.meta.url);
const text = await readFile(new URL("CONTRIBUTING.md", root), "utf8");

/** The blocks of code of a section, without the indentation that makes them blocks. */
function blocksOf(title: string): string[] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  assert.ok(section, title);
  return (section.match(/(?:^ {4}.*\n(?:\n+(?= {4}))?)+/gm) ?? []).map((block) => {
    const indentation = /^ +/.exec(block)![0];
    return block.replaceAll(new RegExp(`^${indentation}`, "gm"), "");
  });
}

// One after another in a copy of the project, on one database, as somebody would who reads the page from top to bottom
describe("the recipes of CONTRIBUTING.md", () => {
  let service: TestService;
  let project: Project;
  let token: string;
  before(async () => {
    service = await startService({ template: "template_demo" });
    project = await Project.copy({ versions: "head" });
    token = await service.token({ read: ["products"], write: ["products"] });
  });
  after(async () => {
    await project.remove();
    await service.close();
  });

  /** Runs a migration with fixtures of the copy, as `db:watch` does with a file of db/current. */
  async function migrate(name: string, migration: string): Promise<void> {
    const { runCurrentMigration } = await project.import<typeof import("../../src/migrations/migrations.ts")>(
      "src/migrations/migrations.ts",
    );
    await runCurrentMigration(service.adminUrl, {}, [{ name, text: migration }]);
  }

  /** Adds lines to a file of the copy, after some text in it. */
  async function insert(file: string, place: string, lines: string): Promise<void> {
    const before = await project.read(file);
    assert.ok(before.includes(place), `${file} has no ${place}`);
    await project.write(file, before.replace(place, `${place}${lines}`));
  }

  async function ask(query: string, variables = {}): Promise<any> {
    const { body, text: answer } = await service.ask(token, { query, variables });
    assert.equal(body.errors, undefined, answer);
    return body.data;
  }

  it("name files that exist", () => {
    const made = /product|notes/;
    const files = [...text.matchAll(/\b(?:bin|db|docs|src|test|tools)\/[\w./-]+\.\w+\b/g)].map(
      ([file]) => file,
    );
    assert.deepEqual(
      files.filter((file) => !made.test(file) && !existsSync(new URL(file, root))),
      [],
    );
  });

  it("say which files a table with a mutation and a topic takes", () => {
    const [, table] = /takes eight files.*\n\n((?:\|.*\n)+)/.exec(text)!;
    const files = [...table!.matchAll(/`([\w./-]+)`/g)].map(([, file]) => file!);
    assert.equal(files.length, 8);
    const sections = text.slice(text.indexOf(table!) + table!.length);
    assert.deepEqual(
      files.filter((file) => !sections.includes(file)),
      [],
    );
  });

  it("a column is in the API, and not in frozen versions", async () => {
    const [migration] = blocksOf("Adding a column and seeing it in the API");
    await insert("db/fixtures/api/products.sql", ") as translations", ",\n  weight_in_grams");
    await migrate("0100-product-weight.sql", migration!);
    await migrate("0200-rule.sql", /`(alter table \S+ validate [^`]+)`/.exec(text)![1]!);
    const { rows } = await service.owner.query(
      "select table_schema as schema from information_schema.columns where column_name = 'weight_in_grams' and table_name = 'products' and table_schema like 'api%'",
    );
    assert.deepEqual(rows, [{ schema: "api_unstable" }]);
    await service.app.reload();
    await ask("{ products(first: 1) { edges { node { weightInGrams } } } }");
  });

  it("a table has lists, rows in the demonstration data, and an example", async () => {
    const [migration, view, demo] = blocksOf("Adding a table");
    await project.write("db/fixtures/api/product_notes.sql", view!);
    await migrate("0100-product-note.sql", migration!);
    await withClient(service.ownerUrl, async (client) => {
      const [helpers] = await readDemo();
      await client.query(`begin; set demo.scale = 1; set demo.age = 0; ${helpers} ${demo};
        drop schema demo cascade; commit`);
    });
    await service.app.reload();
    const lists = await ask(`{
      productNotes(first: 100) { edges { node { id text } } }
      products(first: 1) { edges { node { notes(first: 100) { edges { node { product { productNumber } } } } } } } }`);
    assert.equal(lists.productNotes.edges.length, 40);
    assert.ok(lists.products.edges[0].node.notes.edges.length > 10);
    const page = await (await fetch(`${service.url}/docs/unstable/queries/productNote`)).text();
    const [, id] = /&quot;(gid:\/\/service\/ProductNote\/.*?)&quot;/.exec(page.replaceAll(/<[^>]*>/g, ""))!;
    const { productNote } = await ask("query ($id: ID!) { productNote(id: $id) { text } }", { id });
    assert.ok(productNote.text);
  });

  it("a mutation works and refuses, also in a version that was frozen before", async () => {
    const [inner, outer, migration, clones] = blocksOf("Adding a mutation");
    await service.owner.query(
      "select api_meta.freeze('api_unstable', 'api_2027_01'), api_meta.finish_migration()",
    );
    await project.write("db/fixtures/erp/create_product_note.sql", inner!);
    await project.write("db/fixtures/api/product_note_create.sql", outer!);
    await migrate("0300-product-note-create.sql", `${migration}\n${clones}`);
    const { rows } = await service.owner.query(
      "select to_regproc('api_2027_01.product_note_create') as cloned",
    );
    assert.equal(rows[0].cloned, "api_2027_01.product_note_create");
    await service.app.reload();
    const { products } = await ask(
      `{ products(first: 1, filter: { productNumber: { equals: "AU-0001-30" } }) { edges { node { id } } } }`,
    );
    const create = async (input: object) => {
      const query = `mutation ($input: ProductNoteCreateInput!) { productNoteCreate(input: $input) {
        productNote { text product { productNumber } } userErrors { code field } } }`;
      return (await ask(query, { input })).productNoteCreate;
    };
    const productId = products.edges[0].node.id;
    assert.deepEqual(await create({ productId, text: "Sells well" }), {
      productNote: { text: "Sells well", product: { productNumber: "AU-0001-30" } },
      userErrors: [],
    });
    assert.deepEqual((await create({ productId, text: " " })).userErrors, [
      { code: "INVALID", field: ["text"] },
    ]);
    const unknown = productId.replace(/\w{12}$/, "000000000000");
    assert.deepEqual((await create({ productId: unknown, text: "Sells well" })).userErrors, [
      { code: "NOT_FOUND", field: ["productId"] },
    ]);
  });

  it("an upsert is a mutation and an import of files", async () => {
    const [row, migration] = blocksOf("Adding an upsert");
    await project.write("db/fixtures/api/product_notes_upsert.sql", row!);
    await migrate("0350-product-notes-upsert.sql", migration!);
    await service.app.reload();
    // The scope is new
    const request = { name: "Notes", read: ["products"], write: ["product_notes"] };
    const credential = await createCredential(service.owner, request);
    const { body, text: answer } = await service.ask(await service.tokenFor(credential), {
      query: `mutation ($rows: [ProductNoteUpsertInput!]!) { productNotesUpsert(input: { productNotes: $rows, partial: true }) {
          results { outcome userErrors { code field } } productNotes { product { productNumber } } } }`,
      variables: {
        rows: [
          { reference: "N-1", productNumber: "AU-0001-34", text: "Sells well" },
          { reference: "N-2", productNumber: "none", text: "Sells well" },
        ],
      },
    });
    assert.equal(body.errors, undefined, answer);
    const { results, productNotes } = body.data.productNotesUpsert;
    assert.deepEqual(productNotes, [{ product: { productNumber: "AU-0001-34" } }]);
    assert.deepEqual(results, [
      { outcome: "CREATED", userErrors: [] },
      {
        outcome: "REFUSED",
        userErrors: [{ code: "NOT_FOUND", field: ["productNotes", "1", "productNumber"] }],
      },
    ]);
    assert.ok(findUpsert(service.app.headReader().schema, "product_notes"));
  });

  it("a page of the administration shows rows to those who have logged in", async () => {
    const [query, migration, page] = blocksOf("Adding a page to the administration");
    await project.write("db/fixtures/administration/product_notes.sql", query!);
    await migrate("0400-product-notes.sql", migration!);
    await project.write("src/administration/pages/notes-section.ts", page!);
    const navigation = "src/administration/navigation.ts";
    await insert(navigation, "", 'import { notesSection } from "./pages/notes-section.ts";\n');
    await insert(navigation, "sections: [operationsSection", ", notesSection");
    const { administration } = await project.import<
      typeof import("../../src/administration/administration.ts")
    >("src/administration/administration.ts");
    const app = express().use(
      "/admin",
      administration({
        pool: service.pool,
        logger: pino({ level: "error" }),
        versions: [],
        outdateRights() {},
        limits: defaultLimits,
        now: Date.now,
        publicUrl: undefined,
        explorer: false,
        webhookAllow: "",
      }),
    );
    const server = createServer(app).listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      await createAdministrator(service.owner, "anna@example.com", password);
      const browser = new HttpBrowser(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      assert.equal((await browser.get("/admin/notes")).status, 303);
      await browser.logIn("anna@example.com");
      assert.match(textOf(await browser.get("/admin/notes")), /AU-0001-30 +Sells well/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("a topic is emitted", async () => {
    const [block] = blocksOf("Adding a topic of events");
    const rows = block!.trim().split("\n");
    const file = "db/fixtures/events/topics.sql";
    const lists = (await project.read(file)).split(/(?<=\n)(?= *\) d \()/);
    assert.deepEqual([rows.length, lists.length], [2, 3]);
    const longer = lists.map((list, index) =>
      rows[index] ? list.replace(/\n$/, `,\n${rows[index]}\n`) : list,
    );
    await project.write(file, longer.join(""));
    await migrate("0500-topics.sql", "--!include events/topics.sql\n");
    await service.owner.query(
      "insert into erp.product_note (product_id, text) select id, 'Heard of' from erp.product limit 1",
    );
    await sequence(service.owner);
    const { rows: events } = await service.owner.query(
      "select data ->> 'text' as text from events.event where topic = 'product_note.created'",
    );
    assert.deepEqual(events, [{ text: "Heard of" }]);
  });

  it("a setting is read, and described", async () => {
    const [declaration] = blocksOf("Adding a setting");
    await insert("src/process/settings/service-settings.ts", "export const service = {\n", declaration!);
    const { parseSettings, settingsByTopic } =
      await project.import<typeof import("../../src/process/settings.ts")>("src/process/settings.ts");
    assert.partialDeepStrictEqual(parseSettings({}), { noteLength: 1_000 });
    assert.partialDeepStrictEqual(parseSettings({ NOTE_LENGTH: "5" }), { noteLength: 5 });
    assert.ok(settingsByTopic.Service!.some(({ name }) => name === "NOTE_LENGTH"));
  });

  it("a command prints", async () => {
    const [declaration, work] = blocksOf("Adding a command");
    await insert("src/commands/data-commands.ts", "  addFileCommands(erp);\n", declaration!);
    await project.write("src/commands/notes.ts", work!);
    const { code, output } = await project.run(["notes", "AU-0001-30"], { DATABASE_URL: service.adminUrl });
    assert.deepEqual({ code, output }, { code: 0, output: "Sells well\n" });
  });

  it("leave nothing for db/lint", async () => {
    const findings = await withClient(service.ownerUrl, (client) =>
      check(client, { current: [], only: [lints] }),
    );
    assert.deepEqual(findings, []);
  });
});
