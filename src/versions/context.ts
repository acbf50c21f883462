import type { ServiceContext } from "../../plugins/context.ts";
import "../http/facts.ts";

/** What the stations of the request hand to the operation. */
export function contextOf({ requestId, caller, locale, readFailure }: Express.Locals) {
  const { scopes, scopeText, credentialId } = caller!;
  return {
    scopes,
    requestId,
    credentialId,
    readFailure,
    pgSettings: {
      role: "service_api",
      "service.scopes": scopeText,
      "service.locale": locale,
      "service.credential_id": credentialId,
      "service.request_id": requestId,
    },
  } satisfies Omit<ServiceContext, "mutationTimeout">;
}
