import type { InputType } from "node:zlib";
import { brotliCompress, constants, gzip, zstdCompress } from "node:zlib";
import { byHeader } from "./by-header.ts";
import type { Request, Response } from "./pipeline.ts";

type Done = (error: Error | null, compressed: Buffer) => void;

/**
 * Ways to compress, at their quickest levels: higher ones save a tenth and take several times as long
 * (docs/internals/fast-paths.md). They work in threads of Node's. The first is taken among those that a client likes equally;
 * zstd is last, because some clients ask for it that can't read it.
 */
const ways = {
  br: (bytes: InputType, done: Done) =>
    brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }, done),
  gzip: (bytes: InputType, done: Done) => gzip(bytes, { level: 1 }, done),
  zstd: (bytes: InputType, done: Done) =>
    zstdCompress(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }, done),
};

/** A way to compress, by its name in HTTP. */
export type Encoding = keyof typeof ways;

const encodings = Object.keys(ways) as Encoding[];
/** Bytes from which compressing pays: less fits into a few packets anyway. */
const smallest = 4_096;
/** Answers that are being compressed: each is in memory twice. Others are sent as they are. */
const maxAtOnce = 4;
let underWay = 0;

/** The way to compress an answer that a client prefers; null when it is to be sent as it is. */
export function encodingFor({ headers }: Request, bytes: number): Encoding | null {
  const header = headers["accept-encoding"];
  if (typeof header !== "string" || bytes < smallest || underWay >= maxAtOnce) return null;
  return preferredIn(header);
}

/** The encoding with the highest weight; ours decides among those of equal weight. */
const preferredIn = byHeader((header): Encoding | null => {
  const weights = new Map(
    header.split(",").map((part) => {
      const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
      const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
      return [name, weight === undefined ? 1 : Number(weight)] as const;
    }),
  );
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  // Stable: equal ones keep their order
  const [best] = encodings.toSorted((a, b) => weightOf(b) - weightOf(a));
  return best !== undefined && weightOf(best) > 0 ? best : null;
});

/** Ends an answer, compressed where that pays. @param ended called then */
export function endCompressed(
  request: Request,
  response: Response,
  body: string | Buffer,
  ended: () => void = () => {},
): void {
  const bytes = Buffer.byteLength(body);
  const end = (sent: string | Buffer, length: number) => {
    response.setHeader("content-length", length);
    response.end(sent);
    ended();
  };
  const encoding = encodingFor(request, bytes);
  if (encoding === null) return end(body, bytes);
  underWay++;
  // Off the event loop
  ways[encoding](body, (error, compressed) => {
    underWay--;
    if (response.closed) return;
    if (error) return end(body, bytes);
    response.setHeader("content-encoding", encoding);
    end(compressed, compressed.length);
  });
}
