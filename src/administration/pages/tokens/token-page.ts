import type { CredentialOverview } from "../../../auth/credentials.ts";
import { facts, html, section, table } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { isServed } from "../../../versions/lifetime.ts";
import { pathOf } from "../../../versions/versions.ts";
import { auditList } from "../../audit-list.ts";
import type { AuditEvent } from "../../audit-list.ts";
import { copyable, count, moment, momentText } from "../../formats.ts";
import { actionButton } from "../../forms.ts";
import type { AdministrationOptions } from "../../section.ts";
import type { Page } from "../../show-page.ts";
import { callForRows } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { accessFacts, readScopes } from "./token-access.ts";
import { readCredential, stateBadges } from "./token-rows.ts";
import { readUses, usesTables } from "./token-uses.ts";

const notices = {
  changed: "The changes have been saved.",
  deactivated: "The API credential has been deactivated. Its client is refused from now on.",
  activated: "The API credential works again.",
  repeated:
    "This API credential has already been created, and its secret was shown once. If you don’t have the secret, rotate the credential.",
  rotated: "The API credential has already been rotated. If you don’t have the new secret, rotate it again.",
  inactive: "A deactivated or expired API credential can’t be rotated.",
};

/** An operation that an API credential may send by its hash. */
interface StoredOperation {
  version: string;
  sha256: string;
  name: string;
  bytes: number;
  published_at: Date;
  /** Null if it is stored for all API credentials. */
  credential_id: string | null;
}

/** The page of an API credential. */
export const credentialPage = (visit: Visit, id: string, options: AdministrationOptions): Promise<Page> =>
  visit.run(async (client) => {
    const token = await readCredential(client, id);
    const known = await readScopes(client);
    const operations = await callForRows<StoredOperation>(client, "stored_operations($1)", id);
    const uses = await readUses(client, id);
    const events = await callForRows<AuditEvent>(client, "activity($1, null, 20)", id);
    const change = html`<a href="/admin/tokens/${id}/change">Change</a>`;
    return {
      title: token.name,
      aside: stateBadges(token),
      notices,
      body: html`
        ${credentialFacts(token)} ${actions(visit, token)} ${addresses(visit, token, options)}
        ${section("access", "Access", accessFacts(token.scopes, known), change)}
        ${storedOperations(operations, token.storedOperationsOnly)} ${section("use", "Use", usesTables(uses))}
        ${section("activity", "Activity", auditList(events, id))}
      `,
    };
  });

function credentialFacts(token: CredentialOverview) {
  const { createdAt, lastUsedAt, rotatedAt, deactivatedAt, oldKeyEndsAt, expiresAt } = token;
  const at = (date: Date | null) => date && moment(date);
  return facts([
    ["Last used", at(lastUsedAt) ?? "Never"],
    ["Created", at(createdAt)],
    ["Rotated", at(rotatedAt)],
    ["Old client ID works until", at(oldKeyEndsAt)],
    ["Works until", at(expiresAt)],
    ["Deactivated", at(deactivatedAt)],
  ]);
}

function actions(visit: Visit, { id, active, deactivatedAt }: CredentialOverview): Html {
  return html`<div class="actions">
    <a class="button" href="/admin/tokens/${id}/change">Change name and access</a>
    ${
      active
        ? html`<a class="button" href="/admin/tokens/${id}/rotate">Rotate</a>
            <a class="button" href="/admin/tokens/${id}/deactivate">Deactivate</a>`
        : deactivatedAt && actionButton(visit, `/tokens/${id}/activate`, "Activate")
    }
    <a class="button" href="/admin/tokens/${id}/delete">Delete</a>
  </div>`;
}

function addresses(
  { origin }: Visit,
  { clientId, oldKeyEndsAt }: CredentialOverview,
  { versions, now }: AdministrationOptions,
): Html {
  const served = versions.filter((version) => isServed(version, versions, now()));
  const old = oldKeyEndsAt && `the newest; an older one works until ${momentText(oldKeyEndsAt)}`;
  return section(
    "connect",
    "Connect a client",
    html`${clientId !== null && copyable("Client ID", old ?? "client_id; may be logged", clientId, "client-id")}
    ${copyable("Token endpoint", "exchanges client ID and client secret for access tokens", `${origin}/api/oauth/token`, "token-endpoint")}
    ${served.map((version) =>
      copyable(
        "GraphQL endpoint",
        `version ${version.slug}`,
        `${origin}${pathOf(version)}`,
        `endpoint-${version.slug}`,
      ),
    )}`,
  );
}

/** The operations that the API credential may send. */
function storedOperations(operations: readonly StoredOperation[], storedOnly: boolean): Html {
  const rows = operations.map(({ name, version, sha256, bytes, published_at: at, credential_id: id }) => [
    name,
    version,
    html`<code title="${sha256}">${sha256.slice(0, 12)}…</code>`,
    count(bytes),
    moment(at),
    id === null ? "all API credentials" : "this API credential",
  ]);
  return section(
    "operations",
    "Operations",
    html`<p>
        ${storedOnly ? "Stored operations only; all other operations are refused." : "All operations."}
        ${rows.length === 0 && "No operation is stored for this API credential."}
      </p>
      ${
        rows.length > 0 &&
        table(
          "Stored operations",
          ["Stored operation", "Version", "SHA-256", { number: "Bytes" }, "Stored", "For"],
          rows,
        )
      }`,
  );
}
