import { buildSchema, isObjectType } from "graphql";
import type { ApiChange, Weight } from "./api-changes.ts";
import { apiChanges } from "./api-changes.ts";

const headings: readonly [Weight, string, string][] = [
  ["breaking", "Breaking", "Operations that use these have to be changed."],
  ["dangerous", "To be ready for", "Programs that list all values of an enum should know these."],
  ["deprecated", "Deprecated", "These still work, and will be gone one day."],
  ["added", "New", ""],
  ["changed", "Changed", "Operations work as they are."],
];

/** What differs between two versions, for their clients: Markdown, by what it means for them. */
export async function printDifference(before: string, after: string): Promise<string> {
  const changes = await apiChanges(before, after);
  const reasons = deprecationsOf(after);
  const sections = headings.flatMap(([weight, heading, note]) => {
    const own = changes.filter((change) => change.weight === weight);
    if (own.length === 0) return [];
    const lines = own.map((change) => lineOf(change, reasons));
    return [[`## ${heading}`, ...(note === "" ? [] : [note]), lines.join("\n")].join("\n\n")];
  });
  return sections.length === 0 ? "Nothing has changed." : sections.join("\n\n");
}

function lineOf({ weight, path, message }: ApiChange, reasons: ReadonlyMap<string, string>): string {
  const words = message.replaceAll("'", "`");
  if (weight === "added") return `- \`${path}\``;
  const reason = weight === "deprecated" ? reasons.get(path) : undefined;
  return reason === undefined ? `- ${words}` : `- \`${path}\`: ${reason}`;
}

function deprecationsOf(sdl: string): Map<string, string> {
  return new Map(
    Object.values(buildSchema(sdl).getTypeMap()).flatMap((type) =>
      isObjectType(type)
        ? Object.values(type.getFields()).flatMap(({ name, deprecationReason }): [string, string][] =>
            deprecationReason == null ? [] : [[`${type.name}.${name}`, deprecationReason]],
          )
        : [],
    ),
  );
}

export interface Release {
  slug: string;
  releasedOn: string;
  /** The version that clients come from, with its SDL; null for the first one. */
  previous: { slug: string; sdl: string } | null;
  sdl: string;
}

/** The page of a version: what is different from the one before it, and what its clients do. */
export async function printChangelog({ slug, releasedOn, previous, sdl }: Release): Promise<string> {
  const heading = `# Version ${slug}\n\nReleased on ${releasedOn}, at \`/api/graphql/${slug}\`.`;
  if (previous === null) return `${heading}\n`;
  const difference = await printDifference(previous.sdl, sdl);
  const isBreaking = difference.includes("## Breaking");
  const note = isBreaking
    ? `Clients of ${previous.slug} look through what is breaking, change the operations that use it, and then the path.`
    : `Clients of ${previous.slug} change the path; their operations work as they are.`;
  return `${heading} ${note} What is different from ${previous.slug}:\n\n${difference}\n`;
}
