import type { MutationCheck, MutationChecks, UserErrorRow } from "../../plugins/mutation-check.ts";
import type { Reader } from "../versions/reader.ts";
import type { AllowList } from "./addresses.ts";
import { destinationOf, RefusedDestination } from "./destination.ts";

export interface CheckTools {
  /** Destinations that are allowed beside those of the public internet. */
  allowed: AllowList;
  /** Knows the schema of a version of the API; undefined when it isn't served. */
  readerOf: (version: string) => Reader | undefined;
}

/** What of a subscription can't be checked in SQL: whether its payloadQuery can be run, and its address called. */
export function subscriptionChecks({ allowed, readerOf }: CheckTools): MutationChecks {
  const settingsCheck = async (settings: Settings, scopes: ReadonlySet<string>): Promise<UserErrorRow[]> => [
    ...addressErrors(settings.url, allowed),
    ...(await queryErrors(settings, scopes, readerOf)),
  ];
  const create: MutationCheck = async (input, { scopes }) => settingsCheck(input, scopes);
  // From a change on the scopes of whoever made it decide, also about a query that stays as it was
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
  // Whether it is an address of the web at all is told in SQL
  const { protocol, username, password } = URL.parse(String(url)) ?? {};
  if (!/^https?:$/.test(protocol ?? "") || username || password) return [];
  try {
    destinationOf(String(url), allowed);
    return [];
  } catch (error) {
    if (!(error instanceof RefusedDestination)) throw error;
    return [{ code: "URL_FORBIDDEN", message: error.message, field: ["url"], details: null }];
  }
}

/** An id of the form that queries will be given. */
const someId = "gid://service/Order/00000000-0000-7000-8000-000000000000";

async function queryErrors(
  { api_version, payload_query }: Settings,
  scopes: ReadonlySet<string>,
  readerOf: CheckTools["readerOf"],
): Promise<UserErrorRow[]> {
  const reader = readerOf(String(api_version));
  if (typeof payload_query !== "string" || !reader) return [];
  // Whether there is such a version, and the length of the query, are told in SQL
  if (payload_query.trim() === "" || payload_query.length > 10_000) return [];
  const refusal = await reader.refusal(payload_query, { id: someId }, scopes);
  if (!refusal) return [];
  const { code, ...details } = refusal.extensions;
  const isScope = code === "FORBIDDEN";
  return [
    {
      code: isScope ? "SCOPE_MISSING" : "INVALID",
      message: `The query can't be run: ${refusal.message.replace(/[.]?$/, ".")}`,
      field: ["payload_query"],
      details: isScope ? details : null,
    },
  ];
}
