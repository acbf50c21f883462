import { cruise } from "dependency-cruiser";
import type { ICruiseResult } from "dependency-cruiser";
import configuration from "./rules.ts";

/**
 * Reads the imports of a source tree, and the violations of the rules.
 *
 * @param folders the folders to read, relative to the root
 * @param root the root of the tree; by default the working directory
 */
export async function readImports(folders: string[], root = process.cwd()): Promise<ICruiseResult> {
  const { forbidden = [], options = {} } = configuration;
  const resolve = { ...options.enhancedResolveOptions, extensions: [".ts", ".js", ".json"] };
  const { output } = await cruise(
    folders,
    { ...options, baseDir: root, validate: true, ruleSet: { forbidden } },
    resolve,
  );
  if (typeof output === "string") throw new Error(output);
  return output;
}
