import type { Response, Router } from "express";
import { csrfField } from "../../csrf.ts";
import { foreignBlock, shown } from "../../foreign-text.ts";
import { noticeOf } from "../../forms.ts";
import { count, moment } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { showPage } from "../../page.ts";
import { missing } from "../../problem.ts";
import { visitOf } from "../../visit.ts";
import { deliveryTable } from "./delivery-table.ts";
import { healthBadge, shownHost, shownOwner, readSubscription, webhooksTrail } from "./webhooks.ts";
import type { DeliveryLine, Subscription } from "./webhooks.ts";

const pageSize = 50;

const notices = {
  enabled: "The subscription is enabled. Waiting messages are sent at once.",
  stopped:
    "The subscription is disabled, and its waiting messages were dropped. If some are left, do it again.",
  disabled: "The subscription is disabled. Nothing is sent until it is enabled again.",
};

/** The page of a subscription, with its last deliveries. */
export function subscriptionPage(router: Router): void {
  router.get("/:id", async (request, response) => {
    const { id } = request.params;
    const before = request.query.before ?? null;
    if (before !== null && !isUuid(before)) throw missing();
    const { subscription, rows } = await visitOf(response).run(async (client) => {
      const subscription = await readSubscription(client, id);
      const { rows } = await client.query<DeliveryLine>(
        "select * from administration.webhook_deliveries($1, $2, $3)",
        [id, before, pageSize + 1],
      );
      return { subscription, rows };
    });
    const page = rows.slice(0, pageSize);
    showPage(response, {
      title: `${subscription.topic} to ${shownHost(subscription.url)}`,
      trail: [webhooksTrail],
      aside: healthBadge(subscription),
      notice: noticeOf(request, notices),
      body: html`
        ${before === null && html`${trouble(subscription)} ${facts(subscription)} ${actions(response, subscription)} ${settings(subscription)}`}
        <section class="card" aria-labelledby="deliveries">
          <h2 id="deliveries">Deliveries</h2>
          ${page.length > 0 ? deliveryTable(id, page) : html`<p class="quiet">There is nothing ${before === null ? "yet" : "older"}. Deliveries are kept for 30 days.</p>`}
          <div class="actions">
            ${before !== null && html`<a class="button" href="/admin/webhooks/${id}">Newest</a>`}
            ${
              rows.length > pageSize &&
              html`<a class="button" href="/admin/webhooks/${id}?before=${page.at(-1)!.id}">Older</a>`
            }
          </div>
        </section>
      `,
    });
  });
}

function trouble({ health, health_reason: reason }: Subscription): Html | false {
  return (
    health !== "HEALTHY" &&
    html`<p class="notice ${health === "DEGRADED" ? "warning" : "bad"} long">
      ${shown(reason ?? "", 1000) || "Messages don’t arrive."}
    </p>`
  );
}

function facts(subscription: Subscription): Html {
  const { backlog_count, last_delivered_at, next_attempt_at, failing_since, created_at } = subscription;
  return html`<dl class="facts card">
    <div>
      <dt>Waiting</dt>
      <dd>${count(Number(backlog_count))}</dd>
    </div>
    <div>
      <dt>Last success</dt>
      <dd>${last_delivered_at ? moment(last_delivered_at) : "None yet"}</dd>
    </div>
    ${
      failing_since &&
      html`<div>
        <dt>Failing since</dt>
        <dd>${moment(failing_since)}</dd>
      </div>`
    }
    ${
      next_attempt_at &&
      html`<div>
        <dt>Next attempt</dt>
        <dd>${next_attempt_at.getTime() <= Date.now() ? "Now" : moment(next_attempt_at)}</dd>
      </div>`
    }
    <div>
      <dt>Subscribed</dt>
      <dd>${moment(created_at)}</dd>
    </div>
  </dl>`;
}

function actions(response: Response, { id, enabled, health, backlog_count }: Subscription): Html {
  const form = (action: string, label: string, kind = "") =>
    html`<form method="post" action="/admin/webhooks/${id}/${action}">
      ${csrfField(visitOf(response))}<button class="${kind}">${label}</button>
    </form>`;
  return html`<div class="actions">
    ${(health !== "HEALTHY" || !enabled) && form("enable", enabled ? "Send waiting messages now" : "Enable", "main")}
    ${enabled && form("test", "Send a test")}
    ${enabled && html`<a class="button" href="/admin/webhooks/${id}/disable">Disable</a>`}
    ${
      (enabled || backlog_count !== "0") &&
      html`<a class="button" href="/admin/webhooks/${id}/stop">Stop and drop waiting messages</a>`
    }
  </div>`;
}

function settings(subscription: Subscription): Html {
  const { url, topic, fields, api_version, payload_query } = subscription;
  return html`<section class="card" aria-labelledby="settings">
    <h2 id="settings">Settings</h2>
    <dl class="facts columns">
      <div class="whole">
        <dt>Address</dt>
        <dd><code>${shown(url, 2000)}</code></dd>
      </div>
      <div>
        <dt>Topic</dt>
        <dd><code>${topic}</code></dd>
      </div>
      <div>
        <dt>Only changes of</dt>
        <dd class="long">${fields ? fields.join(", ") : "Any field"}</dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd>${api_version}</dd>
      </div>
      <div>
        <dt>Token</dt>
        <dd class="long">${shownOwner(subscription)}</dd>
      </div>
    </dl>
    ${
      payload_query !== null &&
      html`<h3>Query for the data of messages</h3>
        ${foreignBlock("Query for the data", payload_query, 10_000)}`
    }
  </section>`;
}
