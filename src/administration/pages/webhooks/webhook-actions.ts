import { count } from "../../formats.ts";
import { requireFound } from "../../problem.ts";
import type { AdministrationOptions, Pages } from "../../section.ts";
import { confirmationPage } from "../../show-page.ts";
import { callInTransaction } from "../../visit.ts";
import type { Visit } from "../../visit.ts";
import { subscriptionLink, readSubscription } from "./webhook-rows.ts";

/** Most deliveries dropped in one transaction. */
const dropBatch = 5_000;
/** Milliseconds after which dropping stops and the page says that messages may be left. */
const dropTimeoutMs = 20_000;

/** Actions on webhooks: test, retry, enable, and, after a confirmation, disable and stop. */
export const webhookActions = ({ webhookAllow }: AdministrationOptions): Pages => ({
  "POST /:id/test": async (visit, id) => {
    const delivery = await callInTransaction<string>(visit, "test_webhook($1)", id);
    return `/admin/webhooks/${id}/deliveries/${delivery}?done=tested`;
  },

  "POST /:id/deliveries/:delivery/retry": async (visit, id, delivery) => {
    const { rows } = await visit.run((client) =>
      client.query(
        `select administration.retry_webhook_delivery(d.id)
         from administration.webhook_delivery($1) d where d.subscription_id = $2`,
        [delivery, id],
      ),
    );
    requireFound(rows[0]);
    return `/admin/webhooks/${id}/deliveries/${delivery}?done=retried`;
  },

  "POST /:id/enable": async (visit, id) => {
    // Checks again whether messages may be sent to its address
    const statement =
      "select administration.set_webhook_enabled($1, true) from set_config('service.webhook_allow', $2, true)";
    await visit.run((client) => client.query(statement, [id, webhookAllow]));
    return `/admin/webhooks/${id}?done=enabled`;
  },

  "GET /:id/disable": async (visit, id) =>
    confirmationPage(visit, {
      title: "Disable this subscription?",
      within: subscriptionLink(await loadSubscription(visit, id)),
      text: "Nothing is sent from now on. Waiting messages are kept until the subscription is enabled again. Events in the meantime are not sent; the client can request them afterwards.",
      submit: "Disable subscription",
    }),
  "POST /:id/disable": async (visit, id) => {
    await callInTransaction(visit, "set_webhook_enabled($1, false)", id);
    return `/admin/webhooks/${id}?done=disabled`;
  },

  "GET /:id/stop": async (visit, id) => {
    const subscription = await loadSubscription(visit, id);
    const waiting = Number(subscription.backlog_count);
    const messages = waiting === 1 ? "1 waiting message is" : `${count(waiting)} waiting messages are`;
    return confirmationPage(visit, {
      title: "Stop this subscription and drop its waiting messages?",
      within: subscriptionLink(subscription),
      text: `Nothing is sent from now on. ${waiting === 0 ? "No messages are waiting." : `${messages} dropped.`} The events stay in the log for 30 days, so the client can request them again once the subscription is enabled. To keep the waiting messages, disable the subscription instead.`,
      submit: "Stop and drop waiting messages",
    });
  },
  "POST /:id/stop": async (visit, id) => {
    await callInTransaction(visit, "stop_webhook($1)", id);
    const end = performance.now() + dropTimeoutMs;
    // Drops a long backlog in several short transactions
    const drop = () => callInTransaction<number>(visit, "drop_webhook_backlog($1, $2)", id, dropBatch);
    while ((await drop()) === dropBatch && performance.now() < end);
    return `/admin/webhooks/${id}?done=stopped`;
  },
});

const loadSubscription = (visit: Visit, id: string) => visit.run((client) => readSubscription(client, id));
