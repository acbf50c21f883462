import "../process/graphile-env.ts";
import type pg from "pg";
import { Kind } from "graphql";
import type { DocumentNode, GraphQLSchema } from "postgraphile/graphql";
import type { parseArgs } from "node:util";
import { findCredential } from "../auth/credentials.ts";
import { UserError } from "../errors/user-error.ts";
import { errorsOf, parseWithin } from "../graphql/check-document.ts";
import { readSettings } from "../process/settings.ts";
import type { Version } from "../versions/versions.ts";
import { versions } from "../versions/versions.ts";
import { atTheCommandLine } from "./command-line.ts";
import type { GivenDocument } from "./operation-files.ts";
import { readDocuments, readManifest } from "./operation-files.ts";
import { withOwner } from "./owner.ts";
import { UsageError } from "./terminal.ts";

const usage = `Stores operations (trusted documents): clients then send the SHA-256 of a document in place of its text.

Usage: npm run operations -- <command> [options]

  publish FILE… | --manifest FILE   store the documents of these files, each as it is, or of a manifest: that of Apollo's
                                    persisted queries, or that of Relay or GraphQL Code Generator
                                    with SHA-256; they must be valid in the version
  list                              show what is stored
  remove HASH… | --all              remove it

Options:
  --version NAME    the version of the API; publish without it: ${versions[0]!.slug}
  --credential ID   store for this credential, or list or remove what is stored for it; publish without it: for all
  --json            print one line of JSON instead of text
  --help            print this

ID is the id of a credential or its client_id. \`npm run token -- change ID --operations stored\` lets it send stored
operations only. At most 5000 are stored, of 64 KiB each and 16 MiB together. A change takes effect at once on every
process. \`npm run db:check\` names stored operations that a change of the database would break.
Works on the embedded Postgres, whether the service runs or not, or on DATABASE_URL, which then must be an
administrator's. Exit code 0: done, 1: refused or failed, 2: invalid arguments.
`;

const options = {
  manifest: { type: "string" },
  version: { type: "string" },
  credential: { type: "string" },
  all: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
} as const;

type Options = ReturnType<typeof parseArgs<{ options: typeof options }>>["values"];

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

await atTheCommandLine({ usage, options, arguments: 10_000 }, async (values, [command, ...names]) => {
  check(values, command, names);
  const { json, text } = await withOwner(async (connection, url) => {
    const credential = values.credential ? await findCredential(connection, values.credential) : null;
    if (command === "publish") return publish(connection, url, values, credential, names);
    if (command === "list") return list(connection, values, credential);
    return remove(connection, values, credential, names);
  });
  process.stdout.write(`${values.json ? JSON.stringify(json) : text}\n`);
});

/** @throws {UsageError} when the arguments don't fit together */
function check({ version, manifest, all }: Options, command: string | undefined, names: string[]): void {
  if (command === undefined) throw new UsageError("Which command?");
  if (!["publish", "list", "remove"].includes(command))
    throw new UsageError(`There is no command “${command}”.`);
  if (command === "publish" && names.length > 0 === (manifest !== undefined))
    throw new UsageError("publish takes files, or one --manifest.");
  if (command === "list" && names.length > 0) throw new UsageError(`list takes no “${names[0]}”.`);
  if (command === "remove" && names.length > 0 === all)
    throw new UsageError("remove takes hashes, or --all.");
  if (version !== undefined && !versions.some(({ slug }) => slug === version))
    throw new UsageError(`There is no version “${version}”: ${versions.map(({ slug }) => slug).join(", ")}.`);
}

async function publish(
  connection: pg.Client,
  url: string,
  { manifest, version: slug = versions[0]!.slug }: Options,
  credential: string | null,
  files: string[],
) {
  const given = manifest === undefined ? await readDocuments(files) : await readManifest(manifest);
  const operations = await validated(
    given,
    versions.find((version) => version.slug === slug)!,
    url,
  );
  const { rows } = await connection
    .query<{ published: number }>("select auth.publish_operations($1, $2, $3) as published", [
      ...[slug, credential, JSON.stringify(operations)],
    ])
    .catch(explain);
  const { published } = rows[0]!;
  const same = operations.length - published;
  return {
    json: { version: slug, credential_id: credential, published, already: same },
    text: `Stored ${published} for ${credential ?? "all credentials"}, version ${slug}; ${same} were stored already.`,
  };
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
async function validated(given: readonly GivenDocument[], version: Version, url: string) {
  const { limits } = readSettings();
  // The other commands don't need PostGraphile, which takes long to load
  const { makePgService } = await import("postgraphile/adaptors/pg");
  const { buildVersion } = await import("../versions/sdl.ts");
  const pgService = makePgService({ connectionString: url, pubsub: false });
  let schema: GraphQLSchema;
  try {
    schema = await buildVersion(version, pgService);
  } finally {
    await pgService.release?.();
  }
  const faults: string[] = [];
  const operations = given.map(({ document, source }) => {
    const { document: tree, errors } = { document: undefined, ...parseWithin(document, limits) };
    const [fault] = errors ?? errorsOf(schema, tree);
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

async function list(connection: pg.Client, { version }: Options, credential: string | null) {
  const { rows } = await connection.query<Stored>(
    `select * from auth.stored_operation_overview
     where ($1::text is null or version = $1) and ($2::uuid is null or credential_id = $2)
     order by version, name, sha256, credential_name`,
    [version, credential],
  );
  const lines = rows.map(
    (row) =>
      `${row.sha256}  ${row.version}  ${row.name}  (${row.bytes} bytes, ${row.credential_name ?? "all"})`,
  );
  return { json: rows, text: lines.join("\n") || "Nothing is stored." };
}

async function remove(
  connection: pg.Client,
  { version, all }: Options,
  credential: string | null,
  hashes: string[],
) {
  const wanted = all ? null : hashes.map((hash) => hash.replace(/^sha256:/, "").toLowerCase());
  const { rows } = await connection.query<{ removed: number }>(
    "select auth.remove_operations($1, $2, $3) as removed",
    [version, credential, wanted],
  );
  const { removed } = rows[0]!;
  if (removed === 0 && wanted !== null) throw new UserError("None of them is stored.");
  return { json: { removed }, text: `Removed ${removed}.` };
}
