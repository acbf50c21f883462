import { html } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { facts, section } from "../../../html/pieces.ts";
import { foreignBlock, moment } from "../../formats.ts";
import { actionButton } from "../../forms.ts";
import { missing } from "../../problem.ts";
import type { Page } from "../../show-page.ts";
import { rowOf, rowsOf } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { attemptList } from "./webhook-attempts.ts";
import type { AttemptRow } from "./webhook-attempts.ts";
import { linkTo, readSubscription, stateBadge } from "./webhook-rows.ts";
import type { DeliveryLine, Subscription } from "./webhook-rows.ts";

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
export const deliveryPage = (visit: Visit, id: string, wanted: string): Promise<Page> =>
  visit.run(async (client) => {
    const delivery = await rowOf<DeliveryRow>(client, "webhook_delivery($1)", wanted);
    if (delivery.subscription_id !== id) throw missing();
    const attempts = await rowsOf<AttemptRow>(client, "webhook_attempts($1)", wanted);
    const subscription = await readSubscription(client, id);
    const { state } = delivery;
    const label = state === "pending" ? "Send now" : "Send again";
    const action = subscription.enabled
      ? actionButton(visit, `${visit.path}/retry`, label, state !== "delivered")
      : html`<p class="quiet">The subscription is disabled: nothing can be sent until it is enabled.</p>`;
    return {
      title: `Delivery of ${delivery.topic}`,
      within: linkTo(subscription),
      aside: stateBadge(state),
      notices,
      body: html`
        ${factsOf(delivery)} ${action}
        ${section("attempts", "Attempts", attemptList(attempts, delivery.attempts))}
        ${message(delivery, subscription)}
      `,
    };
  });

function factsOf(delivery: DeliveryRow) {
  const { event_id, sequence, subject_id, created_at, delivered_at, next_attempt_at } = delivery;
  return facts([
    ["Made", moment(created_at)],
    ["Delivered", delivered_at && moment(delivered_at)],
    ["Next attempt", next_attempt_at && moment(next_attempt_at)],
    ["Sequence", sequence ?? "None: it is a test"],
    ["Id of the event", html`<code>${event_id}</code>`],
    ["Id of the subject", subject_id && html`<code>${subject_id}</code>`],
  ]);
}

function message({ body, sequence }: DeliveryRow, { payload_query }: Subscription): Html {
  return section(
    "body",
    "Body of the request",
    html`${
      payload_query !== null &&
      sequence !== null &&
      html`<p class="quiet">
        Except for <code>data</code>, which the subscription’s query reads at each attempt and which is not
        kept. Shown here is the event’s.
      </p>`
    }
    ${foreignBlock("Text of the body", body, 20_000)}`,
  );
}
