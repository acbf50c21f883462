import type { ServiceContext } from "../graphql/context.ts";
import type { Caller } from "../auth/caller.ts";
import { perObject, remembered } from "../lib/remembered.ts";
import type { SettingsStatement, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import { settingsFor, settingsStatement, usedFor } from "../postgres/pipeline/transaction-settings.ts";

/** The settings of a reading transaction: everything that decides which rows and texts it sees. */
const readSettings = ({ scopeText, credentialId }: Caller, locale: string | undefined) => ({
  role: "service_api",
  "service.scopes": scopeText,
  "service.locale": locale,
  // Some rows are seen by the credential alone that they belong to
  "service.credential_id": credentialId,
});

/** A caller's rights to read, for plans and for the database. */
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
      // Passed on with the events to those who are told of them
      "service.traceparent": traceparent,
      application_name: use?.applicationName,
      [usedFor]: use,
    },
  };
}

// The name comes last, for `settingsFor`
const onlyReads = { transaction_read_only: "on", application_name: "service" };

// Callers are the same objects while nothing about them changes, and they seldom change their language.
const known = perObject<Caller, Map<string | undefined, SettingsStatement>>(() => new Map());

/**
 * The statement that makes the settings for reading. SQL injected into such a read can't write, and can't change that.
 */
export function readSettingsFor(
  caller: Caller,
  locale: string | undefined,
  use?: StatementUse,
): SettingsStatement {
  const statement = remembered(known(caller), locale, () =>
    settingsStatement({ ...readSettings(caller, locale), ...onlyReads })!,
  );
  return use ? settingsFor(statement, use) : statement;
}
