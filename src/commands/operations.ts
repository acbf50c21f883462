import type pg from "pg";
import { Kind } from "graphql";
import type { DocumentNode } from "postgraphile/graphql";
import { findCredential } from "../auth/credentials.ts";
import { UserError } from "../errors/user-error.ts";
import { validateDocument, parseWithin } from "../graphql/check-document.ts";
import { readSettings } from "../process/settings.ts";
import type { Version } from "../versions/versions.ts";
import { versions } from "../versions/versions.ts";
import type { SourceDocument } from "./operation-files.ts";
import { readDocuments, readManifest } from "./operation-files.ts";
import { UsageError } from "./terminal.ts";
import type { Result } from "./terminal.ts";
import { asOwner, withPgService } from "./with-database.ts";

/** A stored operation, as auth.stored_operation_overview has it. */
interface Stored {
  version: string;
  sha256: string;
  name: string;
  bytes: number;
  published_at: Date;
  credential_id: string | null;
  credential_name: string | null;
}

interface Selection {
  version?: string;
  /** Id or client_id of a credential. */
  credential?: string;
}

/** Runs work with the id of the credential that was named; null without one. */
const withCredential = (
  { credential }: Selection,
  work: (connection: pg.Client, id: string | null, url: string) => Promise<Result>,
): Promise<Result> =>
  asOwner(async (connection, url) =>
    work(connection, credential ? await findCredential(connection, credential) : null, url),
  );

export async function publishOperations(
  files: string[],
  { manifest, ...chosen }: Selection & { manifest?: string },
): Promise<Result> {
  if (files.length > 0 === (manifest !== undefined))
    throw new UsageError("publish takes files, or one --manifest.");
  const { version: slug = versions[0]!.slug } = chosen;
  const version = versions.find((one) => one.slug === slug)!;
  return withCredential(chosen, async (connection, credential, url) => {
    const given = manifest === undefined ? await readDocuments(files) : await readManifest(manifest);
    const operations = await validateDocuments(given, version, url);
    const { rows } = await connection
      .query<{ published: number }>("select auth.publish_operations($1, $2, $3) as published", [
        slug,
        credential,
        JSON.stringify(operations),
      ])
      .catch(explain);
    const { published } = rows[0]!;
    const same = operations.length - published;
    return {
      json: { version: slug, credential_id: credential, published, already: same },
      text: `Stored ${published} for ${credential ?? "all credentials"}, version ${slug}; ${same} were stored already.`,
    };
  });
}

/** Constraints of the table and its limits, in words. */
function explain(error: unknown): never {
  const { code, constraint, message } = error as pg.DatabaseError;
  // program_limit_exceeded
  if (code === "54000") throw new UserError(message);
  if (constraint === "stored_operation_has_at_most_65536_bytes")
    throw new UserError("A document has more than 65536 bytes, or none.");
  throw error;
}

/**
 * Names of documents that are valid in a version.
 *
 * @throws {UserError} which names those that aren't
 */
async function validateDocuments(given: readonly SourceDocument[], version: Version, url: string) {
  const { limits } = readSettings();
  // The other commands don't need it
  const { buildVersion } = await import("../versions/sdl.ts");
  const schema = await withPgService(url, (service) => buildVersion(version, service));
  const faults: string[] = [];
  const operations = given.map(({ document, source }) => {
    const { document: tree, errors } = { document: undefined, ...parseWithin(document, limits) };
    const [fault] = errors ?? validateDocument(schema, tree);
    if (fault) faults.push(`${source}: ${fault.message}`);
    return { name: tree ? nameOf(tree, source) : source, document };
  });
  if (faults.length > 0)
    throw new UserError(`Nothing is stored, because of ${version.slug}:\n  ${faults.join("\n  ")}`);
  return operations;
}

/** The names of the document's operations, or its source's if they have none. */
function nameOf({ definitions }: DocumentNode, source: string): string {
  const names = definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION && definition.name ? [definition.name.value] : [],
  );
  return (names.join(", ") || source).slice(0, 200);
}

export const listOperations = (chosen: Selection): Promise<Result> =>
  withCredential(chosen, async (connection, credential) => {
    const { rows } = await connection.query<Stored>(
      `select * from auth.stored_operation_overview
       where ($1::text is null or version = $1) and ($2::uuid is null or credential_id = $2)
       order by version, name, sha256, credential_name`,
      [chosen.version, credential],
    );
    const lines = rows.map(
      (row) =>
        `${row.sha256}  ${row.version}  ${row.name}  (${row.bytes} bytes, ${row.credential_name ?? "all"})`,
    );
    return { json: rows, text: lines.join("\n") || "Nothing is stored." };
  });

export async function removeOperations(
  hashes: string[],
  { all, ...chosen }: Selection & { all?: true },
): Promise<Result> {
  if (hashes.length > 0 === (all === true)) throw new UsageError("remove takes hashes, or --all.");
  const wanted = all ? null : hashes.map((hash) => hash.replace(/^sha256:/, "").toLowerCase());
  return withCredential(chosen, async (connection, credential) => {
    const { rows } = await connection.query<{ removed: number }>(
      "select auth.remove_operations($1, $2, $3) as removed",
      [chosen.version, credential, wanted],
    );
    const { removed } = rows[0]!;
    if (removed === 0 && wanted !== null) throw new UserError("None of them is stored.");
    return { json: { removed }, text: `Removed ${removed}.` };
  });
}
