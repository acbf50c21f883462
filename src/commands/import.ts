import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { createGzip } from "node:zlib";
import { UserError } from "../errors/user-error.ts";
import { ApiClient } from "./api-client.ts";
import type { BulkOperation } from "./api-client.ts";
import { progressBar } from "./progress.ts";
import { say, UsageError } from "./terminal.ts";

/** A file to be loaded. */
interface Source {
  path: string;
  bytes: number;
  type: string;
  isCompressed: boolean;
}

async function inspectFile(path: string, charset = "utf-8"): Promise<Source> {
  const [, format, zip] = /\.(jsonl|ndjson|csv)(\.gz)?$/.exec(path) ?? [];
  if (format === undefined) throw new UsageError("The file is a .jsonl or a .csv, perhaps with .gz behind.");
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new UserError(`There is no file ${path}.`);
  const type = `${format === "csv" ? "text/csv" : "application/jsonl"}; charset=${charset}`;
  return { path, bytes: found.size, type, isCompressed: zip !== undefined };
}

/** Sends the file, compressed. @returns the id of the bulk operation */
async function send(client: ApiClient, resource: string, source: Source): Promise<string> {
  const bar = progressBar("Sending", "bytes", source.bytes);
  let sent = 0;
  const counter = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      bar.update((sent += bytes.length));
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
      // Of unknown length; the type of Node doesn't know it
      ...{ duplex: "half" },
    });
    const { bulkOperation } = (await response.json()) as { bulkOperation: { id: string } };
    return bulkOperation.id;
  } finally {
    bar.stop();
    file.destroy();
  }
}

async function follow(client: ApiClient, id: string): Promise<BulkOperation> {
  const bar = progressBar("Loading", "rows");
  try {
    return await client.follow(id, ({ doneCount, refusedCount, rowCount }) => {
      bar.setTotal(rowCount ?? 0);
      bar.update(doneCount + refusedCount);
    });
  } finally {
    bar.stop();
  }
}

export async function importFile(
  resource: string,
  path: string,
  { charset }: { charset?: string },
): Promise<void> {
  const source = await inspectFile(path, charset);
  const client = new ApiClient();
  const done = await follow(client, await send(client, resource, source));
  const { createdCount, updatedCount, doneCount, refusedCount, errorsUrl, errorMessage, state } = done;
  const same = doneCount - createdCount - updatedCount;
  say(`${createdCount} created, ${updatedCount} updated, ${same} unchanged, ${refusedCount} refused`);
  if (errorsUrl !== null) {
    const errors = `${path}.errors.jsonl`;
    await client.save(errorsUrl, errors);
    say(`Why rows were refused: ${errors}`);
    process.exitCode = 1;
  }
  if (state !== "completed") throw new UserError(`It is ${state}. ${errorMessage ?? ""}`.trim());
}
