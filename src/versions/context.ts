import type { ServiceContext } from "../../plugins/context.ts";
import type { Caller } from "../auth/caller.ts";

/** What a caller may read, for the plans and for the database. */
export function contextFor(
  { scopes, scopeText, credentialId }: Caller,
  requestId: string,
  locale: string | undefined,
): ServiceContext {
  return {
    scopes,
    requestId,
    credentialId,
    pgSettings: {
      role: "service_api",
      "service.scopes": scopeText,
      "service.locale": locale,
      "service.credential_id": credentialId,
      "service.request_id": requestId,
    },
  };
}
