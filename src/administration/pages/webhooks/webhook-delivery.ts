import { facts, html, section } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { count, clientTextBlock, moment, visibleText } from "../../formats.ts";
import { actionButton } from "../../forms.ts";
import { notFound } from "../../problem.ts";
import type { Page } from "../../show-page.ts";
import { callForRow, callForRows } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { subscriptionLink, readSubscription, stateBadge } from "./webhook-rows.ts";
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

type Headers = Record<string, string | string[]>;

/** An attempt, as administration.webhook_attempts returns it. */
interface AttemptRow {
  number: number;
  at: Date;
  duration_ms: number | null;
  status: number | null;
  error: string | null;
  request_headers: Headers;
  response_headers: Headers | null;
  response_body: string | null;
}

const notices = {
  tested: "The test is being sent. Reload this page to see the result.",
  retried: "The message will be sent again soon. Reload this page to see the result.",
};

/** The page of a delivery: the message, and the request and response of each attempt. */
export const deliveryPage = (visit: Visit, id: string, deliveryId: string): Promise<Page> =>
  visit.run(async (client) => {
    const delivery = await callForRow<DeliveryRow>(client, "webhook_delivery($1)", deliveryId);
    if (delivery.subscription_id !== id) throw notFound();
    const attempts = await callForRows<AttemptRow>(client, "webhook_attempts($1)", deliveryId);
    const subscription = await readSubscription(client, id);
    const { state } = delivery;
    const label = state === "pending" ? "Send now" : "Send again";
    const action = subscription.enabled
      ? actionButton(visit, `/webhooks/${id}/deliveries/${delivery.id}/retry`, label, state !== "delivered")
      : html`<p class="quiet">The subscription is disabled: nothing can be sent until it is enabled.</p>`;
    return {
      title: `Delivery of ${delivery.topic}`,
      within: subscriptionLink(subscription),
      aside: stateBadge(state),
      notices,
      body: html`
        ${deliveryFacts(delivery)} ${action}
        ${section("attempts", "Attempts", attemptList(attempts, delivery.attempts))}
        ${messageSection(delivery, subscription)}
      `,
    };
  });

function deliveryFacts(delivery: DeliveryRow) {
  const { event_id, sequence, subject_id, created_at, delivered_at, next_attempt_at } = delivery;
  return facts([
    ["Created", moment(created_at)],
    ["Delivered", delivered_at && moment(delivered_at)],
    ["Next attempt", next_attempt_at && moment(next_attempt_at)],
    ["Sequence", sequence ?? "None: it is a test"],
    ["Event ID", html`<code>${event_id}</code>`],
    ["Subject ID", subject_id && html`<code>${subject_id}</code>`],
  ]);
}

function messageSection({ body, sequence }: DeliveryRow, { payload_query }: Subscription): Html {
  return section(
    "body",
    "Request body",
    html`${
      payload_query !== null &&
      sequence !== null &&
      html`<p class="quiet">
        The <code>data</code> shown here are the event’s. The message has the data that the subscription’s
        query reads at each attempt, which aren’t stored.
      </p>`
    }
    ${clientTextBlock("Text of the request body", body, 20_000)}`,
  );
}

/** Attempts of a delivery, newest first, with request and response. The newest is expanded. */
function attemptList(attempts: readonly AttemptRow[], total: number): Html {
  if (attempts.length === 0) return html`<p class="quiet">No attempt has been made yet.</p>`;
  return html`<ol class="index">
      ${attempts.map((attempt, index) => html`<li>${details(attempt, index === 0)}</li>`)}
    </ol>
    ${total > attempts.length && html`<p class="quiet">Only the newest of ${count(total)} attempts are shown.</p>`}`;
}

function details(attempt: AttemptRow, isOpen: boolean): Html {
  const { number, at, duration_ms, status, error } = attempt;
  const isWell = error === null;
  return html`<details ${isOpen && "open"}>
    <summary>
      <span class="badge ${isWell ? "good" : "bad"}">${status ?? "No response"}</span>
      Attempt ${number},
      <span class="quiet">${moment(at)}${duration_ms !== null && ` in ${count(duration_ms)} ms`}</span>
    </summary>
    ${!isWell && html`<p>${visibleText(error, 1000)}</p>`}
    ${headedBlock(`Request headers of attempt ${number}`, "Request headers", headersText(attempt.request_headers))}
    <p class="quiet">The signature isn’t stored.</p>
    ${attempt.response_headers !== null && headedBlock(`Response headers of attempt ${number}`, "Response headers", headersText(attempt.response_headers))}
    ${attempt.response_body !== null && headedBlock(`Response of attempt ${number}`, "Beginning of the response", attempt.response_body)}
  </details>`;
}

function headedBlock(label: string, title: string, text: string): Html {
  return html`<h3>${title}</h3>
    ${text === "" ? html`<p class="quiet">Empty</p>` : clientTextBlock(label, text, 10_000)}`;
}

/** Prints headers, one per line, and cuts long ones. Line breaks are replaced: they would look like another header. */
function headersText(headers: Headers): string {
  return Object.entries(headers)
    .flatMap(([name, values]) =>
      [values]
        .flat()
        .map((value) =>
          `${visibleText(name, 100)}: ${visibleText(String(value), 500)}`.replaceAll("\n", "␊"),
        ),
    )
    .join("\n");
}
