import { html, table } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { count, moment, visibleText } from "../../formats.ts";
import { queryParameter } from "../../forms.ts";
import { readPage } from "../../paging.ts";
import type { Section } from "../../section.ts";
import type { Page } from "../../show-page.ts";
import type { Visit } from "../../visit.ts";
import { webhookActions } from "./webhook-actions.ts";
import { deliveryPage } from "./webhook-delivery.ts";
import { subscriptionPage } from "./webhook-page.ts";
import { healthBadge, hostText, ownerLink } from "./webhook-rows.ts";
import type { Subscription } from "./webhook-rows.ts";

/** The section of webhooks: subscriptions and their deliveries. */
export const webhooksSection: Section = {
  title: "Webhooks",
  path: "/webhooks",
  pages: (options) => ({
    "GET /": listPage,
    "GET /:id": subscriptionPage,
    "GET /:id/deliveries/:delivery": deliveryPage,
    ...webhookActions(options),
  }),
};

/** The list of subscriptions, newest first: all, or only the unhealthy ones. */
async function listPage(visit: Visit): Promise<Page> {
  const isTroubled = queryParameter(visit, "show") === "trouble";
  const call = "webhook_subscriptions(null, $1, $3, $2)";
  const { rows, isFirst, links } = await visit.run((client) =>
    readPage<Subscription>(visit, client, call, isTroubled),
  );
  const choice = (path: string, title: string, isChosen: boolean) =>
    html`<a class="button" href="${path}" ${isChosen && html`aria-current="true"`}>${title}</a>`;
  return {
    title: "Webhooks",
    body: html`
      <p class="lead">
        Clients subscribe to topics and get a signed message about each event. This list shows where messages
        go, and whether they arrive.
      </p>
      <nav class="actions" aria-label="Which subscriptions">
        ${choice("/admin/webhooks", "All", !isTroubled)}
        ${choice("/admin/webhooks?show=trouble", "Unhealthy", isTroubled)}
      </nav>
      ${rows.length > 0 ? list(rows) : emptyListText(isTroubled, !isFirst)} ${links}
    `,
  };
}

const list = (subscriptions: readonly Subscription[]): Html =>
  table(
    "Subscriptions",
    ["Subscription", "Use", "State"],
    subscriptions.map((subscription) => {
      const { id, topic, url, api_version, last_delivered_at, backlog_count, health_reason } = subscription;
      return [
        html`<a href="/admin/webhooks/${id}">${topic}</a>
          <p class="quiet">to ${hostText(url)}</p>
          <p class="quiet">Version ${api_version}</p>
          <p class="quiet">API credential: ${ownerLink(subscription)}</p>`,
        html`${last_delivered_at ? html`Last success ${moment(last_delivered_at)}` : "No success yet"}
        ${backlog_count !== "0" && html`<br />${count(Number(backlog_count))} waiting`}`,
        html`${healthBadge(subscription)}
        ${health_reason !== null && html`<p>${visibleText(health_reason, 500)}</p>`}`,
      ];
    }),
  );

function emptyListText(isTroubled: boolean, isOlder: boolean): Html {
  if (isOlder) return html`<p class="card">There is nothing older.</p>`;
  if (isTroubled) return html`<p class="card">No subscription is unhealthy.</p>`;
  return html`<div class="card">
    <p>There are no subscriptions yet.</p>
    <p>
      A client subscribes with the mutation <code>webhookSubscriptionCreate</code>. It sends a topic, an
      address and a version of the API. Its <a href="/admin/tokens">API credential</a> needs write access to
      Webhook subscriptions, and read access to the topic’s subject. The guide
      <code>docs/guides/webhooks.md</code>, which comes with the service, shows how to subscribe and how to
      write a receiver.
    </p>
  </div>`;
}
