import { parsePosition, formatPosition } from "../../../postgres/wal-position.ts";
import type { Replicas } from "../../../replicas/replicas.ts";
import { refuse } from "../../answers.ts";
import type { Middleware, Response } from "../../pipeline.ts";

const header = "x-consistent-with";

/**
 * Reads the header `X-Consistent-With`: the client must see at least its writes up to this position, also if a replica
 * answers. The response to a mutation has the position in the same header and in `extensions.consistentWith`.
 *
 * @param replicas null when reads go to the primary, which always shows everything
 */
export function readOwnWrites(replicas: Replicas | null): Middleware<"caller", "sentAlong" | "noteWrite"> {
  return (request, response, next) => {
    const value = request.headers[header];
    const sentAlong = value === undefined ? 0n : parsePosition(String(value));
    if (sentAlong === null) return refuse(request, response, 400, "BAD_USER_INPUT", invalidHeader);
    const noteWrite = replicas
      ? async () => {
          await replicas.noteWrite(response.locals.caller.credentialId);
          addPosition(response, replicas);
        }
      : undefined;
    next({ sentAlong, noteWrite });
  };
}

const invalidHeader = "The header X-Consistent-With must have a value from the response to a mutation.";

/** Adds the log position after the client's writes to the response. */
export function addPosition(response: Response<"caller">, replicas: Replicas): void {
  const { locals } = response;
  locals.position = formatPosition(replicas.positions.get(locals.caller.credentialId));
  response.setHeader(header, locals.position);
}
