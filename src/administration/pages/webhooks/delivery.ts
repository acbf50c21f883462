import type { Router } from "express";
import { csrfField } from "../../csrf.ts";
import { foreignBlock } from "../../foreign-text.ts";
import { noticeOf } from "../../forms.ts";
import { moment } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { showPage } from "../../page.ts";
import { missing } from "../../problem.ts";
import { visitOf } from "../../visit.ts";
import { attemptList } from "./attempts.ts";
import type { AttemptRow } from "./attempts.ts";
import { readSubscription, stateBadge, subscriptionTrail } from "./webhooks.ts";
import type { DeliveryLine, Subscription } from "./webhooks.ts";

/** A delivery, as administration.webhook_delivery returns it. */
interface DeliveryRow extends Pick<
  DeliveryLine,
  "id" | "created_at" | "topic" | "subject_id" | "state" | "attempts"
> {
  subscription_id: string;
  event_id: string;
  sequence: string | null;
  next_attempt_at: Date | null;
  delivered_at: Date | null;
  body: string;
}

const notices = {
  tested: "The test is on its way. Load this page again to see the result.",
  retried: "It will be sent again when its turn comes. Load this page again to see the result.",
};

/** The page of a delivery: what was sent and answered. */
export function deliveryPage(router: Router): void {
  router.get("/:id/deliveries/:delivery", async (request, response) => {
    const { id, delivery: wanted } = request.params;
    const visit = visitOf(response);
    const { subscription, delivery, attempts } = await visit.run(async (client) => {
      const { rows } = await client.query<DeliveryRow>("select * from administration.webhook_delivery($1)", [
        wanted,
      ]);
      const [delivery] = rows;
      if (delivery?.subscription_id !== id) throw missing();
      const { rows: attempts } = await client.query<AttemptRow>(
        "select * from administration.webhook_attempts($1)",
        [wanted],
      );
      return { subscription: await readSubscription(client, id), delivery, attempts };
    });
    const { state } = delivery;
    showPage(response, {
      title: `Delivery of ${delivery.topic}`,
      trail: subscriptionTrail(subscription),
      aside: stateBadge(state),
      notice: noticeOf(request, notices),
      body: html`
        ${facts(delivery)}
        ${
          subscription.enabled
            ? html`<form
                class="actions"
                method="post"
                action="/admin/webhooks/${id}/deliveries/${wanted}/retry"
              >
                ${csrfField(visit)}
                <button class="${state !== "delivered" && "main"}">
                  ${state === "pending" ? "Send now" : "Send again"}
                </button>
              </form>`
            : html`<p class="quiet">
                The subscription is disabled: nothing can be sent until it is enabled.
              </p>`
        }
        <section class="card" aria-labelledby="attempts">
          <h2 id="attempts">Attempts</h2>
          ${attemptList(attempts, delivery.attempts)}
        </section>
        ${message(delivery, subscription)}
      `,
    });
  });
}

function facts({
  event_id,
  sequence,
  subject_id,
  created_at,
  next_attempt_at,
  ...others
}: DeliveryRow): Html {
  return html`<dl class="facts card">
    <div>
      <dt>Made</dt>
      <dd>${moment(created_at)}</dd>
    </div>
    ${
      others.delivered_at &&
      html`<div>
        <dt>Delivered</dt>
        <dd>${moment(others.delivered_at)}</dd>
      </div>`
    }
    ${
      next_attempt_at &&
      html`<div>
        <dt>Next attempt</dt>
        <dd>${moment(next_attempt_at)}</dd>
      </div>`
    }
    <div>
      <dt>Sequence</dt>
      <dd>${sequence ?? "None: it is a test"}</dd>
    </div>
    <div>
      <dt>Id of the event</dt>
      <dd><code>${event_id}</code></dd>
    </div>
    ${
      subject_id &&
      html`<div>
        <dt>Id of the subject</dt>
        <dd><code>${subject_id}</code></dd>
      </div>`
    }
  </dl>`;
}

function message({ body, sequence }: DeliveryRow, { payload_query }: Subscription): Html {
  return html`<section class="card" aria-labelledby="body">
    <h2 id="body">Body of the request</h2>
    ${
      payload_query !== null &&
      sequence !== null &&
      html`<p class="quiet">
        Except for <code>data</code>, which the subscription’s query reads at each attempt and which is not
        kept. Shown here is the event’s.
      </p>`
    }
    ${foreignBlock("Text of the body", body, 20_000)}
  </section>`;
}
