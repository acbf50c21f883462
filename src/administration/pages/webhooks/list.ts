import type { Router } from "express";
import { queryOf } from "../../forms.ts";
import { count, moment } from "../../format.ts";
import { shown } from "../../foreign-text.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { showPage } from "../../page.ts";
import { missing } from "../../problem.ts";
import { visitOf } from "../../visit.ts";
import { healthBadge, shownHost, shownOwner } from "./webhooks.ts";
import type { Subscription } from "./webhooks.ts";

const pageSize = 50;

/** All subscriptions, newest first, or only those in trouble. */
export function webhookListPage(router: Router): void {
  router.get("/", async (request, response) => {
    const before = request.query.before ?? null;
    if (before !== null && !isUuid(before)) throw missing();
    const isTroubled = queryOf(request, "show") === "trouble";
    const { rows } = await visitOf(response).run((client) =>
      client.query<Subscription>("select * from administration.webhook_subscriptions(null, $1, $2, $3)", [
        ...[before, isTroubled, pageSize + 1],
      ]),
    );
    const page = rows.slice(0, pageSize);
    const filter = isTroubled ? "show=trouble&" : "";
    showPage(response, {
      title: "Webhooks",
      body: html`
        <p class="lead">
          Clients subscribe to topics, and get a signed message when something happens. This list shows where
          messages go, and whether they arrive.
        </p>
        <nav class="actions" aria-label="Which subscriptions">
          <a class="button" href="/admin/webhooks" ${!isTroubled && html`aria-current="true"`}>All</a>
          <a class="button" href="/admin/webhooks?show=trouble" ${isTroubled && html`aria-current="true"`}
            >In trouble</a
          >
        </nav>
        ${page.length > 0 ? list(page) : nothing(isTroubled, before !== null)}
        <div class="actions">
          ${before !== null && html`<a class="button" href="/admin/webhooks?${filter}">Newest</a>`}
          ${
            rows.length > pageSize &&
            html`<a class="button" href="/admin/webhooks?${filter}before=${page.at(-1)!.id}">Older</a>`
          }
        </div>
      `,
    });
  });
}

function list(subscriptions: readonly Subscription[]): Html {
  return html`<ul class="tokens">
    ${subscriptions.map(
      (subscription) =>
        html`<li class="card">
          <div class="name">
            <h2><a href="/admin/webhooks/${subscription.id}">${subscription.topic}</a></h2>
            <p class="quiet long">to ${shownHost(subscription.url)}</p>
            <p class="quiet">Version ${subscription.api_version}</p>
            <p class="quiet long">Token: ${shownOwner(subscription)}</p>
          </div>
          <p class="used">
            ${subscription.last_delivered_at ? html`Last success ${moment(subscription.last_delivered_at)}` : "No success yet"}
            ${subscription.backlog_count !== "0" && html`<br />${count(Number(subscription.backlog_count))} waiting`}
          </p>
          <p class="state">${healthBadge(subscription)}</p>
          ${
            subscription.health_reason !== null &&
            html`<p class="reason long">${shown(subscription.health_reason, 500)}</p>`
          }
        </li>`,
    )}
  </ul>`;
}

function nothing(isTroubled: boolean, isOlder: boolean): Html {
  if (isOlder) return html`<p class="card empty">There is nothing older.</p>`;
  if (isTroubled) return html`<p class="card empty">No subscription is in trouble.</p>`;
  return html`<div class="card empty">
    <p>There are no subscriptions yet.</p>
    <p>
      A client subscribes through the API, by the mutation <code>webhookSubscriptionCreate</code>: with a
      topic, the address to send to, and a version of the API. Its <a href="/admin/tokens">token</a> needs
      write access to Webhook subscriptions, and read access to the topic’s subject.
      <code>docs/webhooks.md</code>, which comes with the service, leads through it, and says what receivers
      have to do.
    </p>
  </div>`;
}
