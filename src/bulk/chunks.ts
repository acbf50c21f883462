import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";

/** A row of a file: a line of JSON and its line number. */
export interface FileRow {
  line: number;
  text: string;
}

/** Most rows of a chunk. A chunk is imported in one call, and this is the limit of an upsert. */
const maxRows = 250;
/** Most characters of a chunk, unless a single row has more. */
const maxCharacters = 1_000_000;

/** Groups rows into chunks. */
export async function* groupIntoChunks(rows: AsyncIterable<readonly FileRow[]>): AsyncGenerator<FileRow[]> {
  let chunk: FileRow[] = [];
  let characters = 0;
  for await (const some of rows) {
    for (const row of some) {
      if (chunk.length === maxRows || (chunk.length > 0 && characters + row.text.length > maxCharacters)) {
        yield chunk;
        [chunk, characters] = [[], 0];
      }
      chunk.push(row);
      characters += row.text.length;
    }
  }
  if (chunk.length > 0) yield chunk;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Compresses a text for the database. */
export const packText = (text: string): Promise<Buffer> => compress(text, { level: 1 });

export const unpackText = async (content: Uint8Array): Promise<string> =>
  (await decompress(content)).toString("utf8");

/** Packs a chunk for the database: a line for each row, with its number and its JSON, which has no line breaks. */
export const pack = (rows: readonly FileRow[]): Promise<Buffer> =>
  packText(rows.map(({ line, text }) => `${line}\t${text}`).join("\n"));

export async function unpack(content: Uint8Array): Promise<FileRow[]> {
  const text = await unpackText(content);
  return text.split("\n").map((row) => {
    const tab = row.indexOf("\t");
    return { line: Number(row.slice(0, tab)), text: row.slice(tab + 1) };
  });
}
