import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { isResource, resources } from "../bulk/resources.ts";
import { UserError } from "../errors/user-error.ts";
import { ApiClient, clientVariables } from "./api-client.ts";
import type { BulkOperation } from "./api-client.ts";
import { atTheCommandLine } from "./command-line.ts";
import { ProgressBar } from "./progress.ts";
import { say, UsageError } from "./terminal.ts";

const usage = `Loads a file of rows into the shop, by the API.

Usage: npm run import -- <${resources.join("|")}> <file.jsonl|file.csv[.gz]> [--charset NAME]

The file is in UTF-8, unless it begins with a byte order mark, or --charset names another: windows-1252.
Rows that are refused are written to a file beside it, <file>.errors.jsonl: line, code, message, field.

${clientVariables} They need to write the resource, and bulk_operations.
Exit code 0: all rows are done, 1: some were refused, or it failed, 2: invalid arguments.
`;

/** A file to be loaded. */
interface Source {
  path: string;
  bytes: number;
  type: string;
  isCompressed: boolean;
}

async function sourceOf(path: string, charset = "utf-8"): Promise<Source> {
  const [, format, zip] = /\.(jsonl|ndjson|csv)(\.gz)?$/.exec(path) ?? [];
  if (format === undefined) throw new UsageError("The file is a .jsonl or a .csv, perhaps with .gz behind.");
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new UserError(`There is no file ${path}.`);
  const type = `${format === "csv" ? "text/csv" : "application/jsonl"}; charset=${charset}`;
  return { path, bytes: found.size, type, isCompressed: zip !== undefined };
}

/** Sends the file, compressed. @returns the id of the bulk operation */
async function send(client: ApiClient, resource: string, source: Source): Promise<string> {
  const bar = new ProgressBar("Sending", "bytes", source.bytes);
  let sent = 0;
  const counter = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      bar.show((sent += bytes.length));
      done(null, bytes);
    },
  });
  const file = createReadStream(source.path).pipe(counter);
  const body = source.isCompressed ? file : file.pipe(createGzip({ level: 1 }));
  try {
    const response = await client.sendAuthorized(`/api/bulk/${resource}`, {
      method: "POST",
      headers: {
        "content-type": source.type,
        "content-encoding": "gzip",
        "idempotency-key": randomUUID(),
      },
      body: Readable.toWeb(body) as ReadableStream,
      // Of unknown length
      ...{ duplex: "half" },
    });
    const { bulkOperation } = (await response.json()) as { bulkOperation: { id: string } };
    return bulkOperation.id;
  } finally {
    bar.end();
    file.destroy();
  }
}

async function follow(client: ApiClient, id: string): Promise<BulkOperation> {
  const bar = new ProgressBar("Loading", "rows", 0);
  try {
    return await client.follow(id, ({ doneCount, refusedCount, rowCount }) =>
      bar.show(doneCount + refusedCount, rowCount ?? 0),
    );
  } finally {
    bar.end();
  }
}

async function saveErrors(client: ApiClient, address: string, path: string): Promise<void> {
  const { body } = await client.send(address, {});
  await pipeline(Readable.fromWeb(body as never), createWriteStream(path));
}

const options = { charset: { type: "string" } } as const;

await atTheCommandLine({ usage, options, arguments: 2 }, async (values, [resource, path]) => {
  if (!isResource(resource))
    throw new UsageError(`Say what the rows are: ${resources.join(", ")}, and which file has them.`);
  if (path === undefined) throw new UsageError("Which file?");
  const source = await sourceOf(path, values.charset);
  const client = new ApiClient();
  const done = await follow(client, await send(client, resource, source));
  const { createdCount, updatedCount, doneCount, refusedCount, errorsUrl, errorMessage, state } = done;
  const same = doneCount - createdCount - updatedCount;
  say(`${createdCount} created, ${updatedCount} updated, ${same} unchanged, ${refusedCount} refused`);
  if (errorsUrl !== null) {
    const errors = `${path}.errors.jsonl`;
    await saveErrors(client, errorsUrl, errors);
    say(`Why rows were refused: ${errors}`);
    process.exitCode = 1;
  }
  if (state !== "completed") throw new UserError(`It is ${state}. ${errorMessage ?? ""}`.trim());
});
