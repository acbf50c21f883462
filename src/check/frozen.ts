import type { ClientBase } from "pg";
import { isServed } from "../versions/lifetime.ts";
import { versions } from "../versions/versions.ts";
import type { UnplacedFinding } from "./finding.ts";
import type { CheckStep } from "./check-source.ts";
import type { FrozenPart } from "./state.ts";
import { readParts } from "./state.ts";

const createPartKey = ({ version, kind, name }: FrozenPart) => `${version} ${kind} ${name}`;
const firstLine = (text: string) => text.split("\n")[0]!;

/**
 * Finds views, columns, types and functions of frozen versions that a migration alters on purpose. A migration that alters
 * one without recording it is refused when it runs.
 */
export const frozenVersions: CheckStep = {
  name: "frozen versions",
  async find({ before, client, recorded }) {
    if (before === null) return [];
    const old = new Map(before.parts.map((part) => [createPartKey(part), part]));
    const next = new Map((await readParts(client)).map((part) => [createPartKey(part), part]));
    const known = new Set(before.parts.map(({ version }) => version));
    const left = new Set([...next.values()].map(({ version }) => version));
    const dropped = [...known].filter((version) => !left.has(version));
    const gone = [...old.values()].filter((part) => left.has(part.version) && !next.has(createPartKey(part)));
    const changed = [...next.values()].filter((part) => isChanged(old.get(createPartKey(part)), part));
    const added = [...next.values()].filter(
      (part) => known.has(part.version) && !old.has(createPartKey(part)),
    );
    return [
      ...(await Promise.all(dropped.map((version) => reportDrop(version, recorded)))).flat(),
      ...gone.map((part) => reportBreach(part, "is gone")),
      ...changed.map((part) => reportBreach(part, describeChange(old.get(createPartKey(part))!, part))),
      ...added.map(reportGrowth),
    ];
  },
};

/** Ignores queries and bodies: they are hashes, which renames change too, and require_frozen_versions checks them. */
const isChanged = (old: FrozenPart | undefined, { kind, definition }: FrozenPart): boolean =>
  old !== undefined && old.definition !== definition && kind !== "query" && kind !== "body";

const describeChange = ({ definition: old }: FrozenPart, { definition }: FrozenPart): string =>
  firstLine(old) === firstLine(definition)
    ? "has another comment"
    : `was: ${firstLine(old)}; is: ${firstLine(definition)}`;

const reportBreach = ({ version, kind, name }: FrozenPart, what: string): UnplacedFinding => ({
  rule: "frozen-version",
  severity: "error",
  object: `${version}.${name}`,
  what: `${kind} ${what}`,
  why: "A frozen version stays as it was released: programs of its clients were written for it.",
  remedy: `leave the version as it is, and change the head. If a fault has to be mended there: -- waive frozen-version ${version}.${name}: why.`,
});

/** Finds the removal of a version that is still served, with its recorded users. */
async function reportDrop(schemaName: string, recorded: ClientBase): Promise<UnplacedFinding[]> {
  const version = versions.find((one) => one.schemaName === schemaName);
  if (version === undefined || !isServed(version, versions, Date.now())) return [];
  const { rows } = await recorded.query<{ name: string; day: string }>(
    `select c.name, max(u.day)::text as day from auth.credential_use u join auth.credential c on c.id = u.credential_id
     where u.version = $1 and u.day > current_date - 90 group by 1 order by 2 desc`,
    [version.slug],
  );
  const users = rows.map(({ name, day }) => `${name} (last on ${day})`).join(", ");
  return [
    {
      rule: "version-still-served",
      severity: "error",
      object: schemaName,
      what: users === "" ? "nobody has used it in 90 days" : `used by ${users}`,
      why: "The version is dropped before its end, which clients were told of.",
      remedy: `retire it first: npx erp release retire ${version.slug}.`,
    },
  ];
}

const reportGrowth = ({ version, kind, name }: FrozenPart): UnplacedFinding => ({
  rule: "frozen-version-grows",
  severity: "note",
  object: `${version}.${name}`,
  what: `${kind} is new`,
  why: "Clients of the version will see it.",
  remedy: "",
});
