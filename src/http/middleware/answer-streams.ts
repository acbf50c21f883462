import type { GraphQLError } from "postgraphile/graphql";
import { OperationTypeNode } from "postgraphile/graphql";
import { completed } from "../../errors/client-errors.ts";
import { scopeRefusal } from "../../graphql/missing-scopes.ts";
import { EventStream } from "../../live/event-stream.ts";
import { followEvents, refusalOfTopics, subscriptionOf } from "../../live/follow-events.ts";
import { keepCurrent, refusalOfQuery, shownTypes } from "../../live/keep-current.ts";
import type { Live, LiveRequest } from "../../live/live.ts";
import { kindOf } from "../../live/live.ts";
import { documentOfOperation } from "../../live/page-document.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";
import type { Undertaking } from "../admission.ts";
import { refuse, sendErrors } from "../answers.ts";
import type { Parts } from "../parts.ts";
import type { Middleware } from "../pipeline.ts";
import { sha256Of } from "./persisted-queries.ts";
import { graphqlBodyOf } from "./read-graphql-body.ts";
import type { Identify } from "./require-token.ts";

/**
 * Answers operations as text/event-stream: subscriptions, queries that are kept up to date, and others with one message.
 * All other requests go on.
 */
export function answerStreams(
  served: readonly ServedVersion[],
  { live, admission, storedOperations }: Pick<Parts, "live" | "admission" | "storedOperations">,
  identify: Identify,
): Middleware {
  const bySlug = new Map(served.map((version) => [version.version.slug, version]));
  return async (request, response, next) => {
    const { locals } = response;
    const { requestId } = locals;
    const { query, operationName, variables } = graphqlBodyOf(request);
    const { document } = locals.operation!;
    const { schema } = bySlug.get(locals.version!.slug)!.current();
    const { operation, isLive } = kindOf({ document: document!, operationName });
    const isSubscription = operation === OperationTypeNode.SUBSCRIPTION;
    if (!locals.isStream) {
      if (!isSubscription) return next();
      const message = "Subscriptions are answered as text/event-stream. Accept that.";
      return refuse(request, response, 406, "BAD_USER_INPUT", message);
    }
    if (operation === OperationTypeNode.MUTATION) {
      const message = "Mutations are answered as JSON. Accept application/json.";
      return refuse(request, response, 406, "BAD_USER_INPUT", message);
    }
    const undertaking: Undertaking = {
      isWrite: false,
      isStored: ({ credentialId }) =>
        storedOperations.has(locals.version!.slug, sha256Of(query), credentialId),
      refusal: (scopes) =>
        scopeRefusal({
          ...{ schema, document: document!, operationName, variableValues: variables },
          contextValue: { scopes },
        }),
    };
    const asked: LiveRequest = {
      ...{ version: locals.version!.slug, schema, document: document!, operationName },
      ...{ variables: variables ?? {}, locale: locals.locale, requestId },
      credentialId: locals.caller!.credentialId,
      lastEventId: request.headers["last-event-id"] as string | undefined,
      async caller() {
        const caller = await identify(request);
        await admission.require(caller, undertaking);
        return caller;
      },
    };
    const { scopes } = locals.caller!;
    const answer = await answerOf(live, asked, { undertaking, scopes, isSubscription, isLive });
    if (answer instanceof Error) return sendErrors(request, response, 400, [completed(answer, requestId)]);
    const stream = new EventStream(response, locals.isPlainStream === true);
    await live.run(asked, stream, () => answer(stream));
  };
}

interface Asking {
  /** Gets what the topics need, too. */
  undertaking: Undertaking;
  scopes: ReadonlySet<string>;
  isSubscription: boolean;
  isLive: boolean;
}

/** What sends the answer, or why there will be none. What happens from now on will be part of it. */
async function answerOf(
  live: Live,
  asked: LiveRequest,
  { undertaking, scopes, isSubscription, isLive }: Asking,
): Promise<((stream: EventStream) => Promise<void>) | GraphQLError> {
  if (!isSubscription && !isLive) return (stream) => answerOnce(live, asked, stream);
  const topics = await live.log.readTopics();
  if (!isSubscription) return refusalOfQuery(shownTypes(asked), topics) ?? keepCurrent(live, asked);
  const subscription = subscriptionOf(asked);
  if (subscription instanceof Error) return subscription;
  const { refusal } = undertaking;
  undertaking.refusal = (now) => refusal(now) ?? refusalOfTopics(subscription.topics, topics, now);
  return undertaking.refusal(scopes) ?? followEvents(live, asked, subscription);
}

async function answerOnce(live: Live, asked: LiveRequest, stream: EventStream): Promise<void> {
  const text = documentOfOperation(asked.document, asked.operationName)!;
  const result = await live.read(asked, text, asked.variables, stream.ended);
  if (result) await stream.next(result);
}
