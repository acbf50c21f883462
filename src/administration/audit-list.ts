import { html } from "../html/html.ts";
import type { Content, Html } from "../html/html.ts";
import { count, moment, momentText, resourceName } from "./formats.ts";

/** An entry of the audit log, as administration.activity returns it. */
export interface AuditEvent {
  id: string;
  happened_at: Date;
  actor: "administrator" | "command line" | "nobody";
  administrator_name: string | null;
  address: string | null;
  action: string;
  credential_id: string | null;
  credential_exists: boolean;
  subject: string | null;
  details: Record<string, unknown>;
}

/** Names of plans on pages. */
export const merchantPlanNames: Readonly<Record<string, string>> = {
  none: "No API",
  read_only: "Read only",
  full: "Full",
};

/** Descriptions of actions. Other actions are shown by their names. */
const actionTitles: Readonly<Record<string, string>> = {
  "credential.created": "Created the API credential",
  "credential.rotated": "Rotated the API credential",
  "credential.changed": "Changed the API credential",
  "credential.limited": "Limited the lifetime of the API credential",
  "credential.deactivated": "Deactivated the API credential",
  "credential.activated": "Activated the API credential",
  "credential.deleted": "Deleted the API credential",
  "operations.published": "Stored operations for",
  "operations.removed": "Removed stored operations for",
  "administrator.created": "Created the administrator",
  "administrator.password_reset": "Reset the password of",
  "administrator.password_changed": "Changed their password",
  "administrator.deactivated": "Deactivated the administrator",
  "webhook_subscription.tested": "Sent a test to the webhook",
  "webhook_subscription.enabled": "Enabled the webhook",
  "webhook_subscription.disabled": "Disabled the webhook",
  "webhook_subscription.stopped": "Stopped the webhook and dropped its waiting messages:",
  "webhook_delivery.retried": "Sent a message again to the webhook",
  "signing_key.rotated": "Rotated the signing key of access tokens. The new one is",
  "signing_key.retired": "Retired the signing key of access tokens",
  "valuation_key.rotated": "Rotated the key that signs stock valuation heads. The new one is",
  "plan.changed": "Changed the plan to",
  "customer.exported": "Exported the data of the customer",
  "customer.anonymized": "Anonymized the customer",
  "session.started": "Logged in",
  "session.refused": "Failed to log in",
  "session.ended": "Logged out",
};

/** Actions of administrators on their own account. The subject isn't shown: it is the actor. */
const ownAccountActions = new Set(["session.started", "session.ended", "administrator.password_changed"]);

/**
 * A list of audit entries, newest first.
 *
 * @param credentialId the API credential whose page shows the list; entries about it don't repeat its name
 */
export function auditList(events: readonly AuditEvent[], credentialId?: string): Html {
  return html`<ol class="index">
    ${events.map((event) => {
      const isNamed =
        event.subject !== null &&
        !ownAccountActions.has(event.action) &&
        !isAboutCredential(event, credentialId);
      return html`<li>
        <p>
          ${actionTitles[event.action] ?? event.action}${isNamed && html` <strong>${subjectLink(event)}</strong>`}
        </p>
        ${detailList(event)}
        <p class="quiet">
          ${moment(event.happened_at)} · ${actorText(event)}${event.address && html` · from ${event.address}`}
        </p>
      </li>`;
    })}
  </ol>`;
}

/** Whether an entry is about this API credential itself, not about its webhooks or stored operations. */
const isAboutCredential = ({ action, credential_id: id }: AuditEvent, token: string | undefined): boolean =>
  id !== null && id === token && !/^(webhook_|operations\.)/.test(action);

function subjectLink(event: AuditEvent): Content {
  const { credential_id: id, credential_exists: isThere, subject, action } = event;
  if (action.startsWith("webhook_"))
    return html`<a href="/admin/webhooks/${String(event.details.subscription_id)}">${subject}</a>`;
  if (action === "plan.changed") return merchantPlanNames[subject!] ?? subject;
  if (!isThere) return subject;
  return html`<a href="/admin/tokens/${id}">${subject}</a>`;
}

function actorText({ actor, administrator_name: name }: AuditEvent): string {
  if (actor === "administrator") return name!;
  return actor === "command line" ? "at the command line" : "not logged in";
}

const fromText = (write: (text: string) => string) => (value: unknown) =>
  typeof value === "string" && write(value);
const fromNumber = (title: string) => (value: unknown) =>
  typeof value === "number" && `${title}: ${count(value)}`;
const fromScopes = (title: string) => (value: unknown) =>
  Array.isArray(value) && `${title}: ${summarizeScopes(value as string[])}`;

/** Lines about the details of an entry, in this order. Missing details have no line. */
const detailLines: Readonly<Record<string, (value: unknown) => string | false>> = {
  old_plan: fromText((plan) => `Previous plan: ${merchantPlanNames[plan]}`),
  old_name: fromText((name) => `Previous name: “${name}”`),
  added: fromScopes("Added"),
  removed: fromScopes("Removed"),
  scopes: fromScopes("Access"),
  operations: fromNumber("Operations"),
  version: fromText((version) => `Version ${version}`),
  stored_operations_only: (only) =>
    typeof only === "boolean" && (only ? "May send stored operations only" : "May send all operations"),
  access_key: fromText((key) => `Client ID ${key}`),
  old_key_ends_at: fromText((time) => `The old client ID works until ${momentText(new Date(time))}`),
  ends_at: fromText((time) => `Works until ${momentText(new Date(time))}`),
  dropped: fromNumber("Dropped messages"),
};

function detailList({ details }: AuditEvent): Content {
  const lines = Object.entries(detailLines).map(([key, write]) => write(details[key]));
  const shown = lines.filter((line) => line !== false);
  return (
    shown.length > 0 &&
    html`<ul>
      ${shown.map((line) => html`<li>${line}</li>`)}
    </ul>`
  );
}

function summarizeScopes(scopes: string[]): string {
  const written = scopes.filter((scope) => scope.endsWith(":write")).map((scope) => scope.split(":")[0]!);
  const read = scopes.map((scope) => scope.split(":")[0]!).filter((resource) => !written.includes(resource));
  if (scopes.length > 12) return `${read.length} resources to read, ${written.length} to read and write`;
  const parts = [
    ...read.map((resource) => `${resourceName(resource)} (read)`),
    ...written.map((resource) => `${resourceName(resource)} (write)`),
  ];
  return parts.join(", ") || "none";
}
