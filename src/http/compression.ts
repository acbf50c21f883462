import type { InputType } from "node:zlib";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import { cacheByHeader } from "./by-header.ts";
import type { Request, Response } from "./pipeline.ts";

type Done = (error: Error | null, compressed: Buffer) => void;

/**
 * Compression methods at their quickest levels: higher ones save a tenth and take several times as long
 * (docs/internals/fast-paths.md). They run in Node's thread pool. If a client weights several equally, the first is used;
 * zstd is last, because some clients accept it without being able to read it.
 */
const methods = {
  br: (bytes: InputType, done: Done) =>
    brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }, done),
  gzip: (bytes: InputType, done: Done) => gzip(bytes, { level: 1 }, done),
  zstd: (bytes: InputType, done: Done) =>
    zstdCompress(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }, done),
};

/** The name of a compression method in HTTP. */
export type Encoding = keyof typeof methods;

const encodings = Object.keys(methods) as Encoding[];
/** Bytes from which compression pays: less fits into a few packets anyway. */
const minBytes = 4_096;
/** Responses that may be compressed at a time: each is in memory twice. Further ones are sent uncompressed. */
const maxAtOnce = 4;
let runningCount = 0;

/** Returns how to compress a response for a client; null to send it uncompressed. */
export function chooseEncoding({ headers }: Request, bytes: number): Encoding | null {
  const header = headers["accept-encoding"];
  if (typeof header !== "string" || bytes < minBytes || runningCount >= maxAtOnce) return null;
  return choosePreferred(header);
}

/** Returns the encoding with the highest weight; among equal weights, our order decides. */
const choosePreferred = cacheByHeader((header): Encoding | null => {
  const weights = new Map(
    header.split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  // The sort is stable: equal ones keep their order
  const [best] = encodings.toSorted((a, b) => weightOf(b) - weightOf(a));
  return best !== undefined && weightOf(best) > 0 ? best : null;
});

/** Sends the body of a response, compressed if that pays. @param onEnd called afterwards */
export function sendCompressed(
  request: Request,
  response: Response,
  body: string | Buffer,
  onEnd: () => void = () => {},
): void {
  const bytes = Buffer.byteLength(body);
  const end = (sent: string | Buffer, length: number) => {
    response.setHeader("content-length", length);
    response.end(sent);
    onEnd();
  };
  const encoding = chooseEncoding(request, bytes);
  if (encoding === null) return end(body, bytes);
  runningCount++;
  // Off the event loop
  methods[encoding](body, (error, compressed) => {
    runningCount--;
    if (response.closed) return;
    if (error) return end(body, bytes);
    response.setHeader("content-encoding", encoding);
    end(compressed, compressed.length);
  });
}
