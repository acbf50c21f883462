import type { GraphQLError } from "postgraphile/graphql";
import { OperationTypeNode } from "postgraphile/graphql";
import { completeError } from "../../../errors/client-errors.ts";
import { scopeRefusal } from "../../../graphql/missing-scopes.ts";
import { EventStream } from "../../../live/event-stream.ts";
import { followEvents, checkTopics, readSubscription } from "../../../live/follow-events.ts";
import { followLiveQuery, checkLiveQuery, findTypesRead } from "../../../live/keep-current.ts";
import type { Live, LiveRequest } from "../../../live/live.ts";
import { getOperationKind } from "../../../live/live.ts";
import { extractOperation } from "../../../live/page-document.ts";
import type { LongWork } from "../../admission.ts";
import { refuse, sendErrors } from "../../answers.ts";
import type { Parts } from "../../parts.ts";
import type { Middleware } from "../../pipeline.ts";
import type { Identify } from "../access/require-token.ts";
import { hashDocument } from "../reading/persisted-queries.ts";

/**
 * Answers operations as text/event-stream: subscriptions, live queries, and other queries with a single message. Other
 * requests pass on.
 */
export function answerStreams(
  { live, admission, storedOperations }: Pick<Parts, "live" | "admission" | "storedOperations">,
  identify: Identify,
): Middleware<"body" | "caller" | "execution" | "isStream" | "locale" | "served"> {
  return async (request, response, next) => {
    const {
      body,
      caller,
      execution,
      isStream,
      isEventsEndpoint: isPlainStream,
      locale,
      requestId,
      served,
    } = response.locals;
    const { schema, document, operationName } = execution;
    const { slug } = served.version;
    const { operation, isLive } = getOperationKind({ document, operationName });
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
    const longWork: LongWork = {
      isWrite: false,
      isStored: ({ credentialId }) => storedOperations.has(slug, hashDocument(body.query), credentialId),
      refusal: (scopes) => scopeRefusal({ ...execution, contextValue: { scopes } }),
    };
    const liveRequest: LiveRequest = {
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
        await admission.require(now, longWork);
        return now;
      },
    };
    const options = { undertaking: longWork, scopes: caller.scopes, isSubscription, isLive };
    const answer = await prepareAnswer(live, liveRequest, options);
    if (answer instanceof Error)
      return sendErrors(request, response, 400, [completeError(answer, requestId)]);
    const stream = new EventStream(response, isPlainStream === true);
    await live.run(liveRequest, stream, () => answer(stream));
  };
}

interface AnswerOptions {
  /** Its `refusal` is extended by the scopes that the topics require. */
  undertaking: LongWork;
  scopes: ReadonlySet<string>;
  isSubscription: boolean;
  isLive: boolean;
}

/** Returns the function that sends the stream, which includes all events from now on; or the error that refuses it. */
async function prepareAnswer(
  live: Live,
  liveRequest: LiveRequest,
  { undertaking, scopes, isSubscription, isLive }: AnswerOptions,
): Promise<((stream: EventStream) => Promise<void>) | GraphQLError> {
  if (!isSubscription && !isLive) return (stream) => answerOnce(live, liveRequest, stream);
  const topics = await live.log.readTopics();
  if (!isSubscription)
    return checkLiveQuery(findTypesRead(liveRequest), topics) ?? followLiveQuery(live, liveRequest);
  const subscription = readSubscription(liveRequest);
  if (subscription instanceof Error) return subscription;
  const { refusal } = undertaking;
  undertaking.refusal = (now) => refusal(now) ?? checkTopics(subscription.topics, topics, now);
  return undertaking.refusal(scopes) ?? followEvents(live, liveRequest, subscription);
}

async function answerOnce(live: Live, liveRequest: LiveRequest, stream: EventStream): Promise<void> {
  const text = extractOperation(liveRequest.document, liveRequest.operationName)!;
  const result = await live.read(liveRequest, text, liveRequest.variables, stream.ended);
  if (result) await stream.next(result);
}
