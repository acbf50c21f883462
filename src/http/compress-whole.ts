import type { OutgoingHttpHeaders } from "node:http";
import { compress, encodingFor } from "./compression.ts";
import type { Request, Response } from "./pipeline.ts";

/**
 * Compresses an answer that other code is going to write, with one call of `writeHead` and one of `end`, where that
 * pays. What is written in parts stays as it is.
 */
export function compressWhole(request: Request, response: Response): void {
  if (encodingFor(request, Infinity) === null) return;
  const { writeHead, write, end } = response;
  const endNow = end.bind(response) as (body: unknown) => void;
  let head: [status: number, headers: OutgoingHttpHeaders] | null = null;
  const send = (body: unknown, headers: OutgoingHttpHeaders = {}) => {
    if (head) writeHead.call(response, head[0], { ...withoutLength(head[1]), ...headers });
    endNow(body);
  };
  const replaced = {
    writeHead(status: number, headers: OutgoingHttpHeaders = {}) {
      head = [status, headers];
      return response;
    },
    write(...parts: unknown[]) {
      restore();
      if (head) writeHead.call(response, ...head);
      return (write as (...args: unknown[]) => boolean).apply(response, parts);
    },
    end(body?: string | Buffer) {
      restore();
      const length = body === undefined ? 0 : Buffer.byteLength(body);
      const encoding = encodingFor(request, length);
      const whole = { "content-length": length };
      if (body === undefined || encoding === null) send(body, whole);
      else
        compress(body, encoding, (error, compressed) => {
          if (response.closed) return;
          if (error) send(body, whole);
          else send(compressed, { "content-length": compressed.length, "content-encoding": encoding });
        });
      return response;
    },
  };
  const restore = () => Object.assign(response, { writeHead, write, end });
  Object.assign(response, replaced);
}

/** Headers without the length of what is not sent like that. */
const withoutLength = (headers: OutgoingHttpHeaders): OutgoingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "content-length"));
