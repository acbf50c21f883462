import type { ICruiseResult } from "dependency-cruiser";
import { folderOf, rooms } from "./rooms.ts";

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

const roomOf = (path: string): string | undefined =>
  rooms.find((room) => path.startsWith(`${folderOf(room)}/`))?.name;

/** Returns the rooms that each room imports. */
export function findArrows({ modules }: Pick<ICruiseResult, "modules">): Arrows {
  const arrows = new Map(rooms.map(({ name }) => [name, new Set<string>()]));
  for (const { source, dependencies } of modules) {
    const from = roomOf(source);
    for (const { resolved } of dependencies) {
      const to = roomOf(resolved);
      if (from !== undefined && to !== undefined && from !== to) arrows.get(from)!.add(to);
    }
  }
  return arrows;
}

/** Returns the arrows that no others imply. With all arrows, the picture would be unreadable. */
function essentialArrows(arrows: Arrows): [from: string, to: string][] {
  const reaches = (from: string, to: string): boolean =>
    [...arrows.get(from)!].some((next) => next === to || reaches(next, to));
  return [...arrows].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)))
      .map((to): [string, string] => [from, to]),
  );
}

/** Settings of Mermaid: small distances, so that the picture fits on a screen. */
const mermaidSettings =
  '%%{init: {"flowchart": {"rankSpacing": 28, "nodeSpacing": 24, "wrappingWidth": 260}}}%%';

/** Returns the rooms and their arrows as a Mermaid diagram. */
export function drawRooms(result: Pick<ICruiseResult, "modules">): string {
  const boxes = rooms.map((room) => `  ${room.name}["<b>${folderOf(room)}</b><br/>${room.holds}"]`);
  const arrows = essentialArrows(findArrows(result)).map(([from, to]) => `  ${from} --> ${to}`);
  return [mermaidSettings, "flowchart TD", ...boxes, ...arrows.sort()].join("\n");
}
