import { hash } from "node:crypto";
import { existsSync } from "node:fs";

/** Where drawn diagrams are kept: the picture's name is made of its source. */
export const diagramFolder = new URL("../../docs/diagrams/", import.meta.url);

/** The file of a diagram, from the source without an end of line. */
export const diagramFile = (source: string): string => `${hash("sha256", source).slice(0, 12)}.svg`;

/** The address of a diagram's picture; null when it isn't drawn. */
export const diagramAddress = (source: string): string | null =>
  existsSync(new URL(diagramFile(source), diagramFolder))
    ? `/docs/pictures/diagrams/${diagramFile(source)}`
    : null;

/** The sources of the diagrams in a text. */
export const diagramsIn = (text: string): string[] =>
  [...text.matchAll(/^```mermaid\n([^]*?)\n```$/gm)].map(([, source]) => source!);
