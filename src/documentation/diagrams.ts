import { hash } from "node:crypto";
import { existsSync } from "node:fs";

/** The folder of drawn diagrams. The name of a picture is a hash of its source. */
export const diagramFolder = new URL("../../docs/diagrams/", import.meta.url);

/** Returns the file name of a diagram, from its source without a final line break. */
export const diagramFile = (source: string): string => `${hash("sha256", source).slice(0, 12)}.svg`;

/** Returns the address of a diagram's picture; null when it isn't drawn. */
export const diagramAddress = (source: string): string | null =>
  existsSync(new URL(diagramFile(source), diagramFolder))
    ? `/docs/pictures/diagrams/${diagramFile(source)}`
    : null;

/** Returns the sources of the diagrams in a text. */
export const diagramsIn = (text: string): string[] =>
  [...text.matchAll(/^```mermaid\n([^]*?)\n```$/gm)].map(([, source]) => source!);
