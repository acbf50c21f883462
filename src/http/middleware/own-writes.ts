import { parsePosition, textOfPosition } from "../../postgres/wal-position.ts";
import type { Position } from "../../postgres/wal-position.ts";
import type { Replicas } from "../../replicas/replicas.ts";
import { refuse } from "../answers.ts";
import type { Middleware, Response } from "../pipeline.ts";

declare global {
  namespace Express {
    interface Locals {
      /** The position that the client sends along; a replica has to show what was committed before it. */
      sentAlong?: Position;
      /** The position behind what the request has written, as the answer tells it. */
      position?: string;
      /** Notes that the request has written something, and tells the position. */
      noteWrite?: () => Promise<void>;
    }
  }
}

const header = "x-consistent-with";

/**
 * Reads `X-Consistent-With`, by which a client shows to another process, which reads from a replica, what it has written
 * before. An answer to a mutation has the position in the header of the same name, and in `extensions.consistentWith`.
 *
 * @param replicas null when reads go to the primary, which always shows everything
 */
export function ownWrites(replicas: Replicas | null): Middleware {
  return (request, response, next) => {
    const given = request.headers[header];
    const position = given === undefined ? 0n : parsePosition(String(given));
    if (position === null) return refuse(request, response, 400, "BAD_USER_INPUT", wrong);
    if (replicas === null) return next();
    const { locals } = response;
    locals.sentAlong = position;
    locals.noteWrite = async () => {
      await replicas.noteWrite(locals.caller!.credentialId);
      tellPosition(response, replicas);
    };
    next();
  };
}

const wrong = "The header X-Consistent-With has to be a value that an answer to a mutation had.";

/** Tells the client the position behind what it has written. */
export function tellPosition(response: Response, replicas: Replicas | null): void {
  if (replicas === null) return;
  const { locals } = response;
  locals.position = textOfPosition(replicas.positions.of(locals.caller!.credentialId));
  response.setHeader(header, locals.position);
}
