import { makeQueryErrors } from "../graphql/mutation-check.ts";
import type { MutationCheck, MutationChecks, UserErrorRow } from "../graphql/mutation-check.ts";
import type { Reader } from "../versions/reader.ts";
import type { AllowList } from "./addresses.ts";
import { parseDestination, RefusedDestination } from "./destination.ts";

export interface CheckTools {
  /** Destinations that are allowed in addition to the public internet. */
  allowed: AllowList;
  /** Returns a reader for a version of the API; undefined when it isn't served. */
  readerOf: (version: string) => Reader | undefined;
  /** Most points that a payloadQuery may cost. */
  maxCost: number;
}

/** The checks of a subscription that SQL can't do: that its payloadQuery can be run, and that its address is allowed. */
export function subscriptionChecks(tools: CheckTools): MutationChecks {
  const settingsCheck = async (settings: Settings, scopes: ReadonlySet<string>): Promise<UserErrorRow[]> => [
    ...addressErrors(settings.url, tools.allowed),
    ...(await queryErrors(settings, scopes, tools)),
  ];
  const create: MutationCheck = async (input, { scopes }) => settingsCheck(input, scopes);
  // From now on the subscription has the scopes of the client that changes it, so an unchanged query is checked as well
  const update: MutationCheck = async ({ id, ...changes }, { scopes, version, query }) => {
    const [present] = await query<Settings>(
      `select api_version, payload_query from ${version}.webhook_subscriptions where id = $1`,
      [id],
    );
    return present ? settingsCheck({ ...present, ...changes }, scopes) : [];
  };
  return {
    webhook_subscription_create: create,
    webhook_subscription_update: update,
    webhook_subscription_enable: update,
  };
}

interface Settings {
  url?: unknown;
  api_version?: unknown;
  payload_query?: unknown;
}

function addressErrors(url: unknown, allowed: AllowList): UserErrorRow[] {
  const text = String(url);
  const { protocol, username, password } = URL.parse(text) ?? {};
  if (protocol === undefined && URL.canParse(text.replace(/:\d+(?=[/?]|$)/, "")))
    return [{ code: "INVALID", message: "Ports are 65535 at most.", field: ["url"], details: null }];
  // SQL checks whether it is an http address at all
  if (!/^https?:$/.test(protocol ?? "") || username || password) return [];
  try {
    parseDestination(text, allowed);
    return [];
  } catch (error) {
    if (!(error instanceof RefusedDestination)) throw error;
    return [{ code: "URL_FORBIDDEN", message: error.message, field: ["url"], details: null }];
  }
}

const { error: queryError, ofRefusal } = makeQueryErrors("payload_query", "can't be run");
/** A well-formed id for checking queries. */
const exampleId = "gid://service/Order/00000000-0000-7000-8000-000000000000";

async function queryErrors(
  { api_version, payload_query }: Settings,
  scopes: ReadonlySet<string>,
  { readerOf, maxCost }: CheckTools,
): Promise<UserErrorRow[]> {
  const reader = readerOf(String(api_version));
  if (typeof payload_query !== "string" || !reader) return [];
  // SQL checks the version and the length of the query
  if (payload_query.trim() === "" || payload_query.length > 10_000) return [];
  const variables = { id: exampleId };
  const refusal = await reader.refusal(payload_query, variables, scopes);
  if (refusal) return [ofRefusal(refusal)];
  const { cost } = await reader.price(payload_query, variables);
  if (cost === null || cost <= maxCost) return [];
  const message = `it costs ${cost} points, and ${maxCost} are allowed, since it is run for each event`;
  return [queryError(message, "INVALID", { cost, maximum: maxCost })];
}
