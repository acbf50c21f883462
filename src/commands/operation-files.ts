import { createHash } from "node:crypto";
import { basename } from "node:path";
import { z } from "zod";
import { UserError } from "../errors/user-error.ts";
import { readText } from "./read-text.ts";
import { parseJson } from "./terminal.ts";

/** A document to be stored, and where it comes from. */
export interface SourceDocument {
  document: string;
  /** For messages: the file, and in a manifest the hash. */
  source: string;
}

/** The two forms of manifests: Apollo's, which lists operations, and Relay's, which maps hashes to documents. */
const manifest = z.union([
  z
    .object({
      format: z.literal("apollo-persisted-query-manifest"),
      operations: z.array(z.object({ id: z.string(), body: z.string() })),
    })
    .transform(({ operations }) => operations.map(({ id, body }) => [id, body] as const)),
  z.record(z.string(), z.string()).transform((documents) => Object.entries(documents)),
]);

/**
 * The documents of a manifest.
 *
 * @throws {UserError} when it has another form, or ids that aren't the SHA-256 of their document
 */
export async function readManifest(file: string): Promise<SourceDocument[]> {
  const { success, data } = manifest.safeParse(parseJson(await readText(file), `${file} is not JSON.`));
  if (!success)
    throw new UserError(`${file} is neither a manifest of Apollo's persisted queries nor one of Relay.`);
  for (const [id, document] of data) {
    // GraphQL Code Generator names the algorithm too
    const sha256 = id.toLowerCase().replace(/^sha256:/, "");
    if (createHash("sha256").update(document).digest("hex") !== sha256)
      throw new UserError(
        `${file}: “${id}” is not the SHA-256 of its document. Relay makes these with "algorithm": "SHA256" in persistConfig.`,
      );
  }
  return data.map(([id, document]) => ({
    document,
    source: `${file}, ${id.replace(/^sha256:/i, "").slice(0, 12)}…`,
  }));
}

/** The documents of files, as they are, each in a file of its own. */
export const readDocuments = (files: readonly string[]): Promise<SourceDocument[]> =>
  Promise.all(files.map(async (file) => ({ document: await readText(file), source: basename(file) })));
