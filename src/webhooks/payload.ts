import type { ExecutionResult } from "postgraphile/graphql";
import type { ServiceContext } from "../../plugins/context.ts";
import type { Reader } from "../versions/reader.ts";
import { contextFor } from "../versions/context.ts";
import type { Delivery } from "./lanes.ts";

/** What a payload can be at most, in characters of JSON. */
const maximalLength = 1_000_000;

/** What kept the data of a message from being read, for whoever subscribed. */
export class PayloadFailure extends Error {
  override name = "PayloadFailure";
}

/** Reads what a message says about the subject of its event. */
export type ReadPayload = (delivery: Delivery) => Promise<unknown>;

/**
 * Makes a reader of payloads: of what was true when the event happened, or of what the subscription's payloadQuery
 * answers, which is run with the scopes that its credential has now.
 *
 * @param readerOf runs queries in a version of the API; undefined when it isn't served any more
 * @throws {PayloadFailure} from the reader, when the query can't be answered
 */
export function payloadReader(readerOf: (version: string) => Reader | undefined): ReadPayload {
  return async (delivery) => {
    const { payload_query: source, topic, body, api_version } = delivery;
    const { data } = body;
    // Of what has been deleted, nothing but the event can be told
    if (source === null || topic.endsWith(".deleted") || topic === "webhook_subscription.test") return data;
    const reader = readerOf(api_version);
    if (!reader) throw new PayloadFailure(`The version ${api_version} isn't served any more.`);
    const variables = { id: data.id };
    const result = await reader.run(source, variables, contextOf(delivery));
    const read = requireData(result);
    const isGone = Object.values(read).every((value) => value === null);
    if (isGone) return data;
    const { length } = JSON.stringify(read);
    if (length > maximalLength)
      throw new PayloadFailure(`The payload has ${length} characters; ${maximalLength} are allowed.`);
    return read;
  };
}

function requireData({ data, errors = [] }: ExecutionResult): Record<string, unknown> {
  const [error] = errors;
  if (error) throw new PayloadFailure(`The payloadQuery failed: ${error.message} (${error.extensions.code})`);
  return data!;
}

function contextOf({ scopes, credential_id, event_id }: Delivery): ServiceContext {
  const caller = {
    credentialId: credential_id ?? "",
    scopes: new Set(scopes),
    scopeText: (scopes ?? []).join(" "),
  };
  return contextFor(caller, event_id, "en-GB");
}
