import { Router } from "express";
import { html } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { table } from "../../../html/pieces.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { shown } from "../../foreign-text.ts";
import { queryOf } from "../../forms.ts";
import { count, moment } from "../../dates-and-numbers.ts";
import { showPage } from "../../show-page.ts";
import { pageOf, pageSize, startOfPage } from "../../paging.ts";
import { missing } from "../../problem.ts";
import type { Section } from "../../section.ts";
import { rowsOf, visitOf } from "../../visit.ts";
import { subscriptionActions } from "./webhook-actions.ts";
import { deliveryPage } from "./webhook-delivery.ts";
import { subscriptionPage } from "./webhook-page.ts";
import { healthBadge, shownHost, shownOwner } from "./webhook-rows.ts";
import type { Subscription } from "./webhook-rows.ts";

/** Webhooks: subscriptions, their deliveries, and the answers. */
export const webhooksSection: Section = {
  title: "Webhooks",
  path: "/webhooks",
  pages(options) {
    const router = Router();
    for (const name of ["id", "delivery"])
      router.param(name, (_request, _response, next, id) => next(isUuid(id) ? undefined : missing()));
    listPage(router);
    subscriptionPage(router);
    deliveryPage(router);
    subscriptionActions(router, options);
    return router;
  },
};

/** All subscriptions, newest first, or only those in trouble. */
function listPage(router: Router): void {
  router.get("/", async (request, response) => {
    const before = startOfPage(request);
    const isTroubled = queryOf(request, "show") === "trouble";
    const call = "webhook_subscriptions(null, $1, $2, $3)";
    const rows = await visitOf(response).run((client) =>
      rowsOf<Subscription>(client, call, before, isTroubled, pageSize + 1),
    );
    const address = `/admin/webhooks${isTroubled ? "?show=trouble" : ""}`;
    const page = pageOf(rows, before, address);
    const choice = (path: string, title: string) =>
      html`<a class="button" href="${path}" ${path === address && html`aria-current="true"`}>${title}</a>`;
    showPage(response, {
      title: "Webhooks",
      body: html`
        <p class="lead">
          Clients subscribe to topics, and get a signed message when something happens. This list shows where
          messages go, and whether they arrive.
        </p>
        <nav class="actions" aria-label="Which subscriptions">
          ${choice("/admin/webhooks", "All")} ${choice("/admin/webhooks?show=trouble", "In trouble")}
        </nav>
        ${page.shown.length > 0 ? list(page.shown) : nothing(isTroubled, before !== null)} ${page.links}
      `,
    });
  });
}

const list = (subscriptions: readonly Subscription[]): Html =>
  table(
    "Subscriptions",
    ["Subscription", "Use", "State"],
    subscriptions.map((subscription) => {
      const { id, topic, url, api_version, last_delivered_at, backlog_count, health_reason } = subscription;
      return [
        html`<a href="/admin/webhooks/${id}">${topic}</a>
          <p class="quiet">to ${shownHost(url)}</p>
          <p class="quiet">Version ${api_version}</p>
          <p class="quiet">Token: ${shownOwner(subscription)}</p>`,
        html`${last_delivered_at ? html`Last success ${moment(last_delivered_at)}` : "No success yet"}
        ${backlog_count !== "0" && html`<br />${count(Number(backlog_count))} waiting`}`,
        html`${healthBadge(subscription)}
        ${health_reason !== null && html`<p>${shown(health_reason, 500)}</p>`}`,
      ];
    }),
  );

function nothing(isTroubled: boolean, isOlder: boolean): Html {
  if (isOlder) return html`<p class="card">There is nothing older.</p>`;
  if (isTroubled) return html`<p class="card">No subscription is in trouble.</p>`;
  return html`<div class="card">
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
