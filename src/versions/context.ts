import type { ServiceContext } from "../graphql/context.ts";
import type { Caller } from "../auth/caller.ts";
import { memoizeByObject, getOrMake } from "../lib/remembered.ts";
import type { SettingsStatement, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import { settingsFor, settingsStatement, useKey } from "../postgres/pipeline/transaction-settings.ts";

/** Returns the settings of a reading transaction: everything that decides which rows and texts it sees. */
const readSettings = ({ scopeText, credentialId }: Caller, locale: string | undefined) => ({
  role: "service_api",
  "service.scopes": scopeText,
  "service.locale": locale,
  // Some rows are visible only to the credential that they belong to
  "service.credential_id": credentialId,
});

/** Returns the context with a caller's rights to read, for plans and for the database. */
export function contextFor(
  caller: Caller,
  requestId: string,
  locale: string | undefined,
  use?: StatementUse,
  traceparent?: string,
): ServiceContext {
  const { scopes, credentialId } = caller;
  return {
    scopes,
    requestId,
    credentialId,
    pgSettings: {
      ...readSettings(caller, locale),
      // For transactions that write
      "service.request_id": requestId,
      // Passed on with the events to their receivers
      "service.traceparent": traceparent,
      application_name: use?.applicationName,
      [useKey]: use,
    },
  };
}

// The name comes last, for `settingsFor`
const readOnlySettings = { transaction_read_only: "on", application_name: "service" };

// Callers are the same objects while nothing about them changes, and they seldom change their language.
const known = memoizeByObject<Caller, Map<string | undefined, SettingsStatement>>(() => new Map());

/** Returns the statement that sets the settings for reading. SQL injected into such a read can't write, or change that. */
export function readSettingsFor(
  caller: Caller,
  locale: string | undefined,
  use?: StatementUse,
): SettingsStatement {
  const statement = getOrMake(known(caller), locale, () =>
    settingsStatement({ ...readSettings(caller, locale), ...readOnlySettings })!,
  );
  return use ? settingsFor(statement, use) : statement;
}
