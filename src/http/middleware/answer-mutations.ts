import { settingsStatement } from "../../postgres/pipeline/transaction-settings.ts";
import type { MutationOutcome } from "../../graphql/mutation-outcome.ts";
import { ClientGone } from "../../mutations/answer.ts";
import type { AnswerMutation } from "../../mutations/answer.ts";
import { wantedMutationOf } from "../../mutations/wanted.ts";
import { contextFor, readSettingsFor } from "../../versions/context.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import { arrivalOf } from "../arrival.ts";
import type { Middleware } from "../pipeline.ts";
import type { Replicas } from "../../replicas/replicas.ts";
import { sendData } from "../send-data.ts";
import type { UnreadAnswers } from "../unread-answers.ts";
import { tellPosition } from "./own-writes.ts";
import { graphqlBodyOf } from "./read-graphql-body.ts";

declare global {
  namespace Express {
    interface Locals {
      /** What became of the operation's only mutation. */
      mutationOutcome?: MutationOutcome;
    }
  }
}

/**
 * Runs the mutation of an operation that has only one, and answers it if one SQL statement can read what it wants to know
 * (src/mutations). Other mutations go on to Grafserv, and so do the outcomes of those that failed or were refused, so that
 * errors are formatted in one place.
 */
export function answerMutations(
  served: readonly ServedVersion[],
  answerMutation: AnswerMutation,
  unread: UnreadAnswers,
  replicas: Replicas | null,
): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return (request, response, next) => {
    const { locals } = response;
    const { version, current, writing } = bySlug.get(locals.version!.slug)!;
    const { operationName, variables: variableValues } = graphqlBodyOf(request);
    const document = locals.operation!.document!;
    const wanted = wantedMutationOf({ schema: current().schema, document, operationName, variableValues });
    if (wanted === null || writing.checks[wanted.call.operation]) return next();
    const { caller, locale, requestId, use } = locals;
    const traceparent = use?.trace?.traceparent;
    const { pgSettings } = contextFor(caller!, requestId, locale, use, traceparent);
    const timeout = { statement_timeout: String(writing.timeoutMs) };
    const asked = {
      ...{ credentialId: caller!.credentialId, requestId, scopeText: caller!.scopeText, use, traceparent },
      arrivedAt: arrivalOf(request),
      isGone: () => response.closed,
      settings: { ...settingsStatement({ ...pgSettings, ...writing.settings, ...timeout })!, use },
      readSettings: readSettingsFor(caller!, locale, use),
    };
    answerMutation(wanted, asked)
      .then((answer) => {
        tellPosition(response, replicas);
        if (!("data" in answer)) {
          if ("failure" in answer && answer.failure instanceof ClientGone) return;
          locals.mutationOutcome = answer;
          return next();
        }
        // `unstable` shows developers how it answers.
        if (version.kind === "floating") response.setHeader("x-read-by", "sql");
        sendData(request, response, answer.data, unread);
      })
      .catch(next);
  };
}
