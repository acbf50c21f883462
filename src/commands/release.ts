import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { Release, Released } from "../check/changelog.ts";
import { isRefused } from "../check/finding.ts";
import { printFindings } from "../check/report.ts";
import { withClient } from "../postgres/client.ts";
import { commitText } from "../migrations/commit-migration.ts";
import { hasCurrentMigration, runCurrentMigration } from "../migrations/migrations.ts";
import { withCommitted } from "../migrations/templates.ts";
import { urlAsOwner } from "../postgres/roles.ts";
import { UserError } from "../errors/user-error.ts";
import { retirementOf } from "../versions/lifetime.ts";
import { formatDay } from "../versions/timetable.ts";
import type { Version } from "../versions/versions.ts";
import { versionOf, versions } from "../versions/versions.ts";
import { say } from "./terminal.ts";
import { asAdmin, withPgService } from "./with-database.ts";

const stable = /^20\d\d-(01|04|07|10)$/;
const preview = /^20\d\d-(0[1-9]|1[0-2])-unstable$/;
const root = new URL("../../", import.meta.url);
const inRoot = (path: string) => new URL(path, root);

// PostGraphile and the comparison of schemas take long to load: refusals don't need them
const changelog = () => import("../check/changelog.ts");

export async function printChanges(before: string, after: string): Promise<void> {
  console.log(await difference(await readCurrentSdl(before), await readCurrentSdl(after)));
}

async function difference(before: string, after: string): Promise<string> {
  return (await changelog()).printDifference(before, after);
}

/** Freezes what `unstable` offers now. */
export async function release(
  slug: string,
  { date: releasedOn = new Date().toISOString().slice(0, 10) }: { date?: string },
): Promise<void> {
  await requireReleasable(slug, releasedOn);
  const version = versionOf({ slug, releasedOn });
  say("Checking, trying and committing the migration");
  const sdl = await onBlankDatabase(async (adminUrl) => {
    await requireClean(adminUrl);
    const { readEvents } = await import("../check/state.ts");
    const events = await withClient(urlAsOwner(adminUrl), readEvents);
    const previous = await readPreviousRelease(adminUrl);
    // Not through db/current, which `erp db watch` would run on the developer's database
    const freeze = `select api_meta.freeze('api_unstable', '${version.schemaName}');\n`;
    await commitText(adminUrl, `release-${slug}`, freeze);
    const sdl = await printSdl(version, adminUrl);
    await writeChangelog({ slug, releasedOn, previous, sdl, events });
    return sdl;
  });
  const file = inRoot(`schema/${slug}.graphql`);
  await writeFile(file, sdl);
  if (version.kind === "stable") {
    await mkdir(inRoot("schema/released/"), { recursive: true });
    await copyFile(file, inRoot(`schema/released/${slug}.graphql`));
  }
  await updateVersionList((known) =>
    known.toSpliced(
      known.findIndex((other) => other.slug === "unstable"),
      0,
      { slug, releasedOn } as { slug: string },
    ),
  );
  say(`Released ${slug}, to be served from ${releasedOn} on.`);
}

async function requireReleasable(slug: string, releasedOn: string): Promise<void> {
  if (!stable.test(slug) && !preview.test(slug))
    throw new UserError(
      `“${slug}” is no name of a version: 2027-01 is a stable one, of January, April, July or October, 2027-02-unstable a dated preview.`,
    );
  if (versions.some((version) => version.slug === slug))
    throw new UserError(`There is a version ${slug} already.`);
  if (!/^\d{4}-\d\d-\d\d$/.test(releasedOn) || Number.isNaN(Date.parse(releasedOn)))
    throw new UserError(`“${releasedOn}” is no date such as 2027-01-15.`);
  if (stable.test(slug) && releasedOn.slice(0, 7) !== slug)
    throw new UserError(
      `A stable version is named for the month of its release: ${slug} can't be released on ${releasedOn}.`,
    );
  await requireNoCurrent();
  const later = (await readdir(inRoot("schema/"))).includes(`${slug}.graphql`);
  if (later) throw new UserError(`schema/${slug}.graphql is there already.`);
}

async function requireNoCurrent(): Promise<void> {
  if (await hasCurrentMigration())
    throw new UserError(
      "There is a migration in db/current. Commit it first: a release is a migration of its own.",
    );
}

/** @throws {UserError} with what the check finds in what is committed */
async function requireClean(adminUrl: string): Promise<void> {
  const { check } = await import("../check/check.ts");
  const findings = await withClient(urlAsOwner(adminUrl), (client) => check(client, { current: [] }));
  if (isRefused(findings)) throw new UserError(`${printFindings(findings)}\n\nNothing was released.`);
}

/** The SDL of a version, as the database makes it. */
async function printSdl(version: Version, url: string): Promise<string> {
  const { printVersion } = await import("../versions/sdl.ts");
  return withPgService(url, (service) => printVersion(version, service));
}

/** The SDL of a version, as it is committed. */
async function readSdl(slug: string): Promise<string> {
  if (!versions.some((version) => version.slug === slug)) throw new UserError(`There is no version ${slug}.`);
  return readFile(inRoot(`schema/${slug}.graphql`), "utf8");
}

/** The SDL of a version; of the head with db/current in it, whether its file is up to date or not. */
async function readCurrentSdl(slug: string): Promise<string> {
  const version = versions.find((one) => one.slug === slug);
  if (version?.kind !== "floating") return readSdl(slug);
  return onBlankDatabase(async (adminUrl) => {
    await runCurrentMigration(adminUrl);
    return printSdl(version, adminUrl);
  });
}

/** The newest version that clients come from, as it was released. */
async function readPreviousRelease(adminUrl: string): Promise<Released | null> {
  const frozen = versions.filter(({ kind }) => kind !== "floating");
  const last = frozen.findLast(({ kind }) => kind === "stable") ?? frozen.at(-1);
  if (last === undefined) return null;
  const { readEventsAtRelease: eventsAtRelease } = await import("../check/rehearsal.ts");
  const events = await eventsAtRelease(adminUrl, last.schemaName);
  return { slug: last.slug, sdl: await readSdl(last.slug), events };
}

async function writeChangelog(of: Release): Promise<void> {
  await mkdir(inRoot("docs/versions/"), { recursive: true });
  await writeFile(inRoot(`docs/versions/${of.slug}.md`), await (await changelog()).printChangelog(of));
}

async function updateVersionList(change: (known: { slug: string }[]) => { slug: string }[]): Promise<void> {
  const list = inRoot("src/versions/versions.json");
  const lines = change(JSON.parse(await readFile(list, "utf8")) as { slug: string }[]);
  await writeFile(list, `[\n${lines.map((line) => `  ${formatLine(line)}`).join(",\n")}\n]\n`);
}

/** Drops a version that has ended: its schema, by a migration, its files, and its line in the list. */
export async function retire(slug: string): Promise<void> {
  const version = versions.find((one) => one.slug === slug);
  if (version === undefined || version.kind === "floating")
    throw new UserError(`There is no version ${slug} that could end.`);
  const end = retirementOf(version, versions);
  if (end === null)
    throw new UserError(`${slug} is served until three months after the next stable version has come.`);
  if (Date.now() < end.sunsetAt)
    throw new UserError(`${slug} is served until ${formatDay(end.sunsetAt)}, as its clients were told.`);
  await requireNoCurrent();
  const text = `drop schema ${version.schemaName} cascade;\nselect api_meta.forget_version('${version.schemaName}');\n`;
  await onBlankDatabase((adminUrl) => commitText(adminUrl, `retire-${slug}`, text));
  for (const file of [`schema/${slug}.graphql`, `schema/released/${slug}.graphql`])
    await rm(inRoot(file), { force: true });
  await updateVersionList((known) => known.filter((one) => one.slug !== slug));
  say(`${slug} is gone with the next set-up. docs/versions keeps its page.`);
}

/** Gives a stable version what it lacks: columns at the end of views, types and functions. */
export async function extend(slug: string, views: readonly string[]): Promise<void> {
  const version = versions.find((one) => one.slug === slug);
  if (version?.kind !== "stable")
    throw new UserError(
      `${slug} is no stable version. Previews stay as they are, and \`unstable\` grows by itself.`,
    );
  await requireNoCurrent();
  const wrong = views.find((view) => !/^[a-z_0-9]+$/.test(view));
  if (wrong !== undefined) throw new UserError(`“${wrong}” is no name of a view.`);
  const names = [version.schemaName, ...views].map((name) => `'${name}'`).join(", ");
  const text = `select api_meta.extend(${names});\n`;
  const before = await readSdl(slug);
  const { findApiChanges: apiChanges } = await import("../check/api-changes.ts");
  const sdl = await onBlankDatabase(async (adminUrl) => {
    await withCommitted(adminUrl, async (url) => {
      await withClient(urlAsOwner(url), (client) => client.query(text));
      const breaking = (await apiChanges(before, await printSdl(version, url))).filter(
        ({ impact: weight }) => weight === "breaking",
      );
      if (breaking.length > 0)
        throw new UserError(
          `${slug} would break:\n${breaking.map(({ message }) => `  ${message}`).join("\n")}`,
        );
    });
    await commitText(adminUrl, `extend-${slug}`, text);
    return printSdl(version, adminUrl);
  });
  await writeFile(inRoot(`schema/${slug}.graphql`), sdl);
  say(`${slug} has grown:\n\n${await difference(before, sdl)}`);
}

/** Runs work on a database with the committed migrations and nothing else. */
const onBlankDatabase = <T>(work: (adminUrl: string) => Promise<T>): Promise<T> =>
  asAdmin((url) => withCommitted(url, work));

function formatLine(line: object): string {
  const entries = Object.entries(line).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return `{ ${entries.join(", ")} }`;
}
