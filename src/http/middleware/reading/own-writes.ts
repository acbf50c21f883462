import { parsePosition, textOfPosition } from "../../../postgres/wal-position.ts";
import type { Replicas } from "../../../replicas/replicas.ts";
import { refuse } from "../../answers.ts";
import type { Middleware, Response } from "../../pipeline.ts";

const header = "x-consistent-with";

/**
 * Reads `X-Consistent-With`, by which a client shows to another process, which reads from a replica, what it has written
 * before. An answer to a mutation has the position in the header of the same name, and in `extensions.consistentWith`.
 *
 * @param replicas null when reads go to the primary, which always shows everything
 */
export function ownWrites(replicas: Replicas | null): Middleware<"caller", "sentAlong" | "noteWrite"> {
  return (request, response, next) => {
    const given = request.headers[header];
    const sentAlong = given === undefined ? 0n : parsePosition(String(given));
    if (sentAlong === null) return refuse(request, response, 400, "BAD_USER_INPUT", wrong);
    const noteWrite = replicas
      ? async () => {
          await replicas.noteWrite(response.locals.caller.credentialId);
          showPosition(response, replicas);
        }
      : undefined;
    next({ sentAlong, noteWrite });
  };
}

const wrong = "The header X-Consistent-With has to be a value that an answer to a mutation had.";

/** Shows the client the position behind what it has written. */
export function showPosition(response: Response<"caller">, replicas: Replicas): void {
  const { locals } = response;
  locals.position = textOfPosition(replicas.positions.of(locals.caller.credentialId));
  response.setHeader(header, locals.position);
}
