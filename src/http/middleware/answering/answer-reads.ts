import type { ReadFromReplica } from "../../../replicas/replicas.ts";
import { readCounts } from "../../../reads/answer-by-statement.ts";
import { compileReadRequest } from "../../../reads/statements.ts";
import { readSettingsFor } from "../../../versions/context.ts";
import type { Middleware } from "../../pipeline.ts";
import type { UnreadResponses } from "../limits/unread-answers.ts";
import { sendData } from "./send-data.ts";

type Needed = "caller" | "execution" | "locale" | "operation" | "sentAlong" | "served" | "use";

/**
 * Answers reads by one SQL statement where possible (src/reads). Grafast executes all other reads. It also executes failed
 * ones again, so that errors are formatted in one place.
 */
export function answerReads(readText: ReadFromReplica, unread: UnreadResponses): Middleware<Needed> {
  return (request, response, next) => {
    const { locals } = response;
    const { caller, execution, locale, sentAlong, served, use } = locals;
    const statement = compileReadRequest(execution);
    if (statement === null) return next();
    return readText(caller.credentialId, readSettingsFor(caller, locale, use), statement, sentAlong).then(
      (data) => {
        if (data === null) return next();
        readCounts.sql++;
        // `unstable` shows developers the executor
        if (served.version.kind === "floating") response.setHeader("x-read-by", "sql");
        sendData(request, response, data, unread);
      },
      (error: Error) => {
        locals.readFailure = error;
        next();
      },
    );
  };
}
