import { shown } from "../../foreign-text.ts";
import { moment } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { stateBadge } from "./webhooks.ts";
import type { DeliveryLine } from "./webhooks.ts";

/** Deliveries, with the result of the last attempt. */
export function deliveryTable(subscriptionId: string, deliveries: readonly DeliveryLine[]): Html {
  return html`<div class="wide" role="region" aria-label="Table of deliveries" tabindex="0">
    <table>
      <caption>
        Newest first; kept for 30 days
      </caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">State</th>
          <th scope="col" class="number">Attempts</th>
          <th scope="col">Last answer</th>
          <th scope="col">Event</th>
          <th scope="col">Id of the subject</th>
        </tr>
      </thead>
      <tbody>
        ${deliveries.map(
          ({ id, created_at, topic, subject_id, state, attempts, last_status, last_error }) =>
            html`<tr>
              <th scope="row">
                <a href="/admin/webhooks/${subscriptionId}/deliveries/${id}">${moment(created_at)}</a>
              </th>
              <td>${stateBadge(state)}</td>
              <td class="number">${attempts}</td>
              <td class="text">${last_status ?? (last_error === null ? "–" : shown(last_error, 60))}</td>
              <td>${topic}</td>
              <td>${subject_id === null ? "–" : html`<code>${subject_id}</code>`}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
