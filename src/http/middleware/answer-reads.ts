import { readCounts } from "../../reads/counts.ts";
import { readStatementOf } from "../../reads/statements.ts";
import type { ReadWithOwnWrites } from "../../replicas/replicas.ts";
import { graphqlBodyOf } from "./read-graphql-body.ts";
import type { UnreadAnswers } from "../unread-answers.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import { readSettingsFor } from "../../versions/context.ts";
import { sendData } from "../send-data.ts";
import type { Middleware } from "../pipeline.ts";

declare global {
  namespace Express {
    interface Locals {
      /** The error of the statement that was to answer a read. */
      readFailure?: Error;
    }
  }
}

/**
 * Answers the reads that one SQL statement can answer (src/reads). It answers as Grafserv would, but faster. Other
 * reads go on to Grafserv, and so do failed ones, so that errors are formatted in one place.
 */
export function answerReads(
  served: readonly ServedVersion[],
  readText: ReadWithOwnWrites,
  unread: UnreadAnswers,
): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (request, response, next) => {
    const { locals } = response;
    const { version, current } = bySlug.get(locals.version!.slug)!;
    const { operationName, variables: variableValues } = graphqlBodyOf(request);
    const asked = {
      schema: current().schema,
      document: locals.operation!.document!,
      operationName,
      variableValues,
      contextValue: { scopes: locals.caller!.scopes },
    };
    const statement = readStatementOf(asked);
    if (statement === null) return next();
    const { caller, locale, use } = locals;
    readText(locals.sentAlong ?? 0n, caller!.credentialId, readSettingsFor(caller!, locale, use), statement)
      .then(
        (data) => {
          if (data === null) return next();
          readCounts.sql++;
          // `unstable` shows developers how it answers.
          if (version.kind === "floating") response.setHeader("x-read-by", "sql");
          sendData(request, response, data, unread);
        },
        (error: Error) => {
          locals.readFailure = error;
          next();
        },
      )
      .catch(next);
  };
}
