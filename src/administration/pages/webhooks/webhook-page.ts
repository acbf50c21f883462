import { facts, html, section, table } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { count, clientTextBlock, moment, visibleText } from "../../formats.ts";
import { actionButton } from "../../forms.ts";
import { readPage } from "../../paging.ts";
import type { Page } from "../../show-page.ts";
import type { Visit } from "../../visit.ts";
import { healthBadge, subscriptionLink, readSubscription, ownerLink, stateBadge } from "./webhook-rows.ts";
import type { DeliveryLine, Subscription } from "./webhook-rows.ts";

const notices = {
  enabled: "The subscription is enabled. Waiting messages are sent at once.",
  stopped:
    "The subscription is disabled, and its waiting messages have been dropped. If some are left, drop them again.",
  disabled: "The subscription is disabled. Nothing is sent until it is enabled again.",
};

/** The page of a subscription, with its newest deliveries. */
export const subscriptionPage = (visit: Visit, id: string): Promise<Page> =>
  visit.run(async (client) => {
    const subscription = await readSubscription(client, id);
    const deliveries = await readPage<DeliveryLine>(visit, client, "webhook_deliveries($3, $1, $2)", id);
    const { rows, isFirst, links } = deliveries;
    const none = html`<p class="quiet">
      There is nothing ${isFirst ? "yet" : "older"}. Deliveries are kept for 30 days.
    </p>`;
    return {
      title: subscriptionLink(subscription).title,
      aside: healthBadge(subscription),
      notices,
      body: html`
        ${isFirst && html`${healthNotice(subscription)} ${subscriptionFacts(subscription)} ${actions(visit, subscription)} ${settings(subscription)}`}
        ${section("deliveries", "Deliveries", html`${rows.length > 0 ? deliveryTable(id, rows) : none} ${links}`)}
      `,
    };
  });

function healthNotice({ health, health_reason: reason }: Subscription): Html | false {
  return (
    health !== "HEALTHY" &&
    html`<p class="notice ${health === "DEGRADED" ? "warning" : "bad"}">
      ${visibleText(reason ?? "", 1000) || "Messages don’t arrive."}
    </p>`
  );
}

function subscriptionFacts(subscription: Subscription) {
  const { backlog_count, last_delivered_at, next_attempt_at, failing_since, created_at } = subscription;
  const next = next_attempt_at && (next_attempt_at.getTime() <= Date.now() ? "Now" : moment(next_attempt_at));
  return facts([
    ["Waiting", count(Number(backlog_count))],
    ["Last success", last_delivered_at ? moment(last_delivered_at) : "None yet"],
    ["Failing since", failing_since && moment(failing_since)],
    ["Next attempt", next],
    ["Subscribed", moment(created_at)],
  ]);
}

function actions(visit: Visit, { id, enabled, health, backlog_count }: Subscription): Html {
  const path = `/webhooks/${id}`;
  return html`<div class="actions">
    ${(health !== "HEALTHY" || !enabled) && actionButton(visit, `${path}/enable`, enabled ? "Send waiting messages now" : "Enable", true)}
    ${enabled && actionButton(visit, `${path}/test`, "Send a test")}
    ${enabled && html`<a class="button" href="/admin${path}/disable">Disable</a>`}
    ${
      (enabled || backlog_count !== "0") &&
      html`<a class="button" href="/admin${path}/stop">Stop and drop waiting messages</a>`
    }
  </div>`;
}

function settings(subscription: Subscription): Html {
  const { url, topic, fields, api_version, payload_query: query } = subscription;
  return section(
    "settings",
    "Settings",
    html`${facts([
      ["Address", html`<code>${visibleText(url, 2000)}</code>`],
      ["Topic", html`<code>${topic}</code>`],
      ["Only changes of", fields ? fields.join(", ") : "Any field"],
      ["Version", api_version],
      ["API credential", ownerLink(subscription)],
    ])}
    ${
      query !== null &&
      html`<h3>Query for the data of messages</h3>
        ${clientTextBlock("Query for the data", query, 10_000)}`
    }`,
  );
}

const deliveryTable = (subscriptionId: string, deliveries: readonly DeliveryLine[]): Html =>
  table(
    "Table of deliveries",
    ["Time", "State", { number: "Attempts" }, "Last response", "Topic", "Subject ID"],
    deliveries.map(({ id, created_at, topic, subject_id, state, attempts, last_status, last_error }) => [
      html`<a href="/admin/webhooks/${subscriptionId}/deliveries/${id}">${moment(created_at)}</a>`,
      stateBadge(state),
      attempts,
      last_status ?? (last_error === null ? "–" : visibleText(last_error, 60)),
      topic,
      subject_id === null ? "–" : html`<code>${subject_id}</code>`,
    ]),
    "Newest first; kept for 30 days",
  );
