import type { GraphQLError } from "postgraphile/graphql";
import { OperationTypeNode } from "postgraphile/graphql";
import { completed } from "../../../errors/client-errors.ts";
import { scopeRefusal } from "../../../graphql/missing-scopes.ts";
import { EventStream } from "../../../live/event-stream.ts";
import { followEvents, refusalOfTopics, subscriptionOf } from "../../../live/follow-events.ts";
import { keepCurrent, refusalOfQuery, shownTypes } from "../../../live/keep-current.ts";
import type { Live, LiveRequest } from "../../../live/live.ts";
import { kindOf } from "../../../live/live.ts";
import { documentOfOperation } from "../../../live/page-document.ts";
import type { Undertaking } from "../../admission.ts";
import { refuse, sendErrors } from "../../answers.ts";
import type { Parts } from "../../parts.ts";
import type { Middleware } from "../../pipeline.ts";
import type { Identify } from "../access/require-token.ts";
import { sha256Of } from "../reading/persisted-queries.ts";

/**
 * Answers operations as text/event-stream: subscriptions, live queries, and other queries with a single message. Other
 * requests pass on.
 */
export function answerStreams(
  { live, admission, storedOperations }: Pick<Parts, "live" | "admission" | "storedOperations">,
  identify: Identify,
): Middleware<"body" | "caller" | "execution" | "isStream" | "locale" | "served"> {
  return async (request, response, next) => {
    const { body, caller, execution, isStream, isPlainStream, locale, requestId, served } = response.locals;
    const { schema, document, operationName } = execution;
    const { slug } = served.version;
    const { operation, isLive } = kindOf({ document, operationName });
    const isSubscription = operation === OperationTypeNode.SUBSCRIPTION;
    if (!isStream) {
      if (!isSubscription) return next();
      const message = "Subscriptions are sent as text/event-stream only: send Accept: text/event-stream.";
      return refuse(request, response, 406, "BAD_USER_INPUT", message);
    }
    if (operation === OperationTypeNode.MUTATION) {
      const message = "Mutations are answered as JSON only: send Accept: application/json.";
      return refuse(request, response, 406, "BAD_USER_INPUT", message);
    }
    const undertaking: Undertaking = {
      isWrite: false,
      isStored: ({ credentialId }) => storedOperations.has(slug, sha256Of(body.query), credentialId),
      refusal: (scopes) => scopeRefusal({ ...execution, contextValue: { scopes } }),
    };
    const asked: LiveRequest = {
      version: slug,
      schema,
      document,
      operationName,
      variables: body.variables ?? {},
      locale,
      requestId,
      credentialId: caller.credentialId,
      lastEventId: request.headers["last-event-id"] as string | undefined,
      async caller() {
        const now = await identify(request);
        await admission.require(now, undertaking);
        return now;
      },
    };
    const asking = { undertaking, scopes: caller.scopes, isSubscription, isLive };
    const answer = await answerOf(live, asked, asking);
    if (answer instanceof Error) return sendErrors(request, response, 400, [completed(answer, requestId)]);
    const stream = new EventStream(response, isPlainStream === true);
    await live.run(asked, stream, () => answer(stream));
  };
}

interface Asking {
  /** Its `refusal` is extended by the scopes that the topics require. */
  undertaking: Undertaking;
  scopes: ReadonlySet<string>;
  isSubscription: boolean;
  isLive: boolean;
}

/** Returns the function that sends the stream, which includes all events from now on; or the error that refuses it. */
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
