import { settingsStatement } from "../../../postgres/pipeline/transaction-settings.ts";
import type { Replicas } from "../../../replicas/replicas.ts";
import { ClientGone } from "../../../mutations/answer.ts";
import type { RunMutation } from "../../../mutations/answer.ts";
import { compileMutationRequest } from "../../../mutations/wanted.ts";
import { contextFor, readSettingsFor } from "../../../versions/context.ts";
import { noteArrival } from "../../pipeline.ts";
import type { Middleware } from "../../pipeline.ts";
import type { UnreadResponses } from "../limits/unread-answers.ts";
import { addPosition } from "../reading/own-writes.ts";
import { sendData } from "./send-data.ts";

/**
 * Runs the mutation of an operation that has only one, and sends the response if one SQL statement can read the payload
 * (src/mutations). Grafast executes all other mutations. It also formats the errors of failed and refused ones, so that
 * this happens in one place.
 */
export function answerMutations(
  answerMutation: RunMutation,
  unread: UnreadResponses,
  replicas: Replicas | null,
): Middleware<"caller" | "execution" | "locale" | "operation" | "served" | "use"> {
  return (request, response, next) => {
    const { locals } = response;
    const { caller, execution, locale, requestId, served, use } = locals;
    const { version, writing } = served;
    const wanted = compileMutationRequest(execution);
    if (wanted === null || writing.checks[wanted.call.operation]) return next();
    const { credentialId, scopeText } = caller;
    const traceparent = use?.trace?.traceparent;
    const { pgSettings } = contextFor(caller, requestId, locale, use, traceparent);
    const timeout = { statement_timeout: String(writing.timeoutMs) };
    const callOptions = {
      credentialId,
      requestId,
      scopeText,
      use,
      traceparent,
      arrivedAt: noteArrival(request),
      isGone: () => response.closed,
      settings: { ...settingsStatement({ ...pgSettings, ...writing.settings, ...timeout })!, use },
      readSettings: readSettingsFor(caller, locale, use),
    };
    return answerMutation(wanted, callOptions).then((answer) => {
      if (replicas) addPosition(response, replicas);
      if (!("data" in answer)) {
        if ("failure" in answer && answer.failure instanceof ClientGone) return;
        locals.mutationOutcome = answer;
        return next();
      }
      // `unstable` shows developers the executor
      if (version.kind === "floating") response.setHeader("x-read-by", "sql");
      sendData(request, response, answer.data, unread);
    });
  };
}
