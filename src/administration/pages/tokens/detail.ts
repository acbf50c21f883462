import type { Response, Router } from "express";
import type { CredentialOverview } from "../../../auth/credentials.ts";
import { isServed } from "../../../versions/lifetime.ts";
import { pathOf } from "../../../versions/versions.ts";
import { csrfField } from "../../csrf.ts";
import { eventList } from "../../events.ts";
import type { AuditEvent } from "../../events.ts";
import { noticeOf } from "../../forms.ts";
import { moment, momentText } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { showPage } from "../../page.ts";
import type { AdministrationOptions } from "../../section.ts";
import { visitOf } from "../../visit.ts";
import { accessTable, readScopes } from "./access.ts";
import { copyable } from "../../copyable.ts";
import { readStoredOperations, storedOperations } from "./operations.ts";
import { readToken, state, tokensTrail } from "./tokens.ts";
import { readUses } from "../../uses.ts";
import { usesTables } from "./uses.ts";

const notices = {
  changed: "The changes have been saved.",
  deactivated: "The token has been deactivated. Its client is refused from now on.",
  activated: "The token works again.",
  repeated:
    "This token has already been created, and its secret was shown once. If you don’t have it, rotate the token.",
  rotated: "The token has already been rotated. If you don’t have the new secret, rotate it again.",
  inactive: "A token that is deactivated or has expired can’t be rotated.",
};

/** The page of a token. */
export function detailPage(router: Router, options: AdministrationOptions): void {
  router.get("/:id", async (request, response) => {
    const { id } = request.params;
    const { token, known, operations, events, uses } = await visitOf(response).run(async (client) => ({
      token: await readToken(client, id),
      known: await readScopes(client),
      operations: await readStoredOperations(client, id),
      uses: await readUses(client, id),
      events: (await client.query<AuditEvent>("select * from administration.activity($1, null, 20)", [id]))
        .rows,
    }));
    showPage(response, {
      title: token.name,
      trail: [tokensTrail],
      aside: state(token),
      notice: noticeOf(request, notices),
      body: html`
        ${facts(token)} ${actions(response, token)} ${addresses(response, token, options)}
        <section class="card" aria-labelledby="access">
          <div class="bar">
            <h2 id="access">Access</h2>
            <a href="/admin/tokens/${id}/change">Change</a>
          </div>
          ${accessTable(token.scopes, known)}
        </section>
        ${storedOperations(operations, token.storedOperationsOnly)}
        <section class="card" aria-labelledby="use">
          <h2 id="use">Use</h2>
          ${usesTables(uses)}
        </section>
        <section class="card" aria-labelledby="activity">
          <h2 id="activity">Activity</h2>
          ${eventList(events, id)}
        </section>
      `,
    });
  });
}

function facts(token: CredentialOverview): Html {
  const { createdAt, lastUsedAt, rotatedAt, deactivatedAt, oldKeyEndsAt, expiresAt } = token;
  return html`<dl class="facts card">
    <div>
      <dt>Last used</dt>
      <dd>${lastUsedAt ? moment(lastUsedAt) : "Never"}</dd>
    </div>
    <div>
      <dt>Created</dt>
      <dd>${moment(createdAt)}</dd>
    </div>
    ${
      rotatedAt &&
      html`<div>
        <dt>Rotated</dt>
        <dd>${moment(rotatedAt)}</dd>
      </div>`
    }
    ${
      oldKeyEndsAt &&
      html`<div>
        <dt>Old key works until</dt>
        <dd>${moment(oldKeyEndsAt)}</dd>
      </div>`
    }
    ${
      expiresAt &&
      html`<div>
        <dt>Works until</dt>
        <dd>${moment(expiresAt)}</dd>
      </div>`
    }
    ${
      deactivatedAt &&
      html`<div>
        <dt>Deactivated</dt>
        <dd>${moment(deactivatedAt)}</dd>
      </div>`
    }
  </dl>`;
}

function actions(response: Response, { id, active, deactivatedAt }: CredentialOverview): Html {
  return html`<div class="actions">
    <a class="button" href="/admin/tokens/${id}/change">Change name and access</a>
    ${
      active
        ? html`<a class="button" href="/admin/tokens/${id}/rotate">Rotate</a>
            <a class="button" href="/admin/tokens/${id}/deactivate">Deactivate</a>`
        : deactivatedAt &&
          html`<form method="post" action="/admin/tokens/${id}/activate">
            ${csrfField(visitOf(response))}<button>Activate</button>
          </form>`
    }
    <a class="button" href="/admin/tokens/${id}/delete">Delete</a>
  </div>`;
}

function addresses(
  response: Response,
  { clientId, oldKeyEndsAt }: CredentialOverview,
  { versions, now }: AdministrationOptions,
): Html {
  const { origin } = visitOf(response);
  const served = versions.filter((version) => isServed(version, versions, now()));
  const old = oldKeyEndsAt && `the newest; an older one works until ${momentText(oldKeyEndsAt)}`;
  return html`<section class="card" aria-labelledby="connect">
    <h2 id="connect">Connect a client</h2>
    ${clientId !== null && copyable("Access key", old || "client_id; may be logged", clientId, "access-key")}
    ${copyable("Token endpoint", "exchanges access key and secret for access tokens", `${origin}/api/oauth/token`, "token-endpoint")}
    ${served.map((version) =>
      copyable(
        "GraphQL endpoint",
        `version ${version.slug}`,
        `${origin}${pathOf(version)}`,
        `endpoint-${version.slug}`,
      ),
    )}
  </section>`;
}
