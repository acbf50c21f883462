import { isObjectType } from "graphql";
import type { ApiChange, Impact } from "./api-changes.ts";
import { findApiChanges, parseSdl } from "./api-changes.ts";
import { findEventChanges } from "./event-changes.ts";
import type { ApiState } from "./state.ts";

const headings: readonly [Impact, string, string][] = [
  ["breaking", "Breaking", "Operations that use these have to be changed."],
  [
    "dangerous",
    "To be ready for",
    "Check programs that list all values of an enum, or rely on the default of an argument.",
  ],
  ["deprecated", "Deprecated", "These still work, and will be gone one day."],
  ["added", "New", ""],
  ["changed", "Changed", "Operations work as they are."],
];

/** Prints the differences between two versions as Markdown, grouped by their effect on clients. */
export async function printDifference(before: string, after: string): Promise<string> {
  const changes = await findApiChanges(before, after);
  const reasons = readDeprecations(after);
  const sections = headings.flatMap(([weight, heading, note]) => {
    const own = changes.filter((change) => change.impact === weight);
    if (own.length === 0) return [];
    const lines = [...Map.groupBy(own, createGroupKey).values()].map((group) => printGroup(group, reasons));
    return [[`## ${heading}`, ...(note === "" ? [] : [note]), [...new Set(lines)].join("\n")].join("\n\n")];
  });
  return sections.length === 0 ? "Nothing has changed." : sections.join("\n\n");
}

/** The path of an argument without its name. */
const fieldOf = (path: string): string => path.split(".").slice(0, 2).join(".");

/** Returns the same text for changes of an argument that many fields share. */
const createGroupKey = ({ path, message }: ApiChange): string =>
  path.split(".").length === 3 ? message.replace(`'${fieldOf(path)}'`, "") : message;

/** @param group changes that differ in their field only */
function printGroup(group: readonly ApiChange[], reasons: ReadonlyMap<string, string>): string {
  const [{ impact: weight, path, message }] = group as [ApiChange];
  const words = message.replaceAll("'", "`");
  if (group.length > 1) return `- ${words.replace(/ field (?=`)/, ` ${group.length} fields, such as `)}`;
  if (weight === "added") return `- \`${path}\``;
  const reason = weight === "deprecated" ? reasons.get(path) : undefined;
  return reason === undefined ? `- ${words}` : `- \`${path}\`: ${reason}`;
}

function readDeprecations(sdl: string): Map<string, string> {
  return new Map(
    Object.values(parseSdl(sdl).getTypeMap()).flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields()).flatMap(({ name, deprecationReason }): [string, string][] =>
            deprecationReason == null ? [] : [[`${type.name}.${name}`, deprecationReason]],
          )
        : [],
    ),
  );
}

/** Prints the differences in event payloads, which all versions share; empty if there are none. */
function printEventChanges(before: ApiState["events"], after: ApiState["events"]): string {
  const changes = findEventChanges(before, after);
  const lines = headings.flatMap(([weight, heading]) =>
    changes
      .filter((change) => change.impact === weight)
      .map(({ path, message }) => `- ${heading}: ${weight === "added" ? `\`${path}\`` : message}`),
  );
  if (lines.length === 0) return "";
  const note = "Topics and their fields are the same for all versions; receivers have them already.";
  return `\n## Events\n\n${note}\n\n${lines.join("\n")}\n`;
}

export interface Release {
  slug: string;
  releasedOn: string;
  /** The version that clients upgrade from, as it was released; null for the first one. */
  previous: Released | null;
  sdl: string;
  /** JSON Schemas of event payloads, by topic. */
  events: ApiState["events"];
}

/** A release: its name, schema and events. */
export interface Released extends Pick<ApiState, "sdl" | "events"> {
  slug: string;
}

/** Prints the page of a version: its differences from the previous one, and how clients upgrade. */
export async function printChangelog(release: Release): Promise<string> {
  const { slug, releasedOn, previous, sdl, events } = release;
  const heading = `# Version ${slug}\n\nReleased on ${releasedOn}, at \`/api/graphql/${slug}\`.`;
  if (previous === null) return `${heading}\n`;
  const difference = await printDifference(previous.sdl, sdl);
  const isBreaking = difference.includes("## Breaking");
  const note = isBreaking
    ? `Clients of ${previous.slug} look through what is breaking, change the operations that use it, and then the path.`
    : `Clients of ${previous.slug} change the path; their operations work as they are.`;
  const ofEvents = printEventChanges(previous.events, events);
  return `${heading} ${note} What is different from ${previous.slug}:\n\n${difference}\n${ofEvents}`;
}
