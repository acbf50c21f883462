import type { Response, Router } from "express";
import { z } from "zod";
import { html } from "../../../html/html.ts";
import { count } from "../../dates-and-numbers.ts";
import { showPage, showQuestion } from "../../show-page.ts";
import { missing } from "../../problem.ts";
import type { AdministrationOptions } from "../../section.ts";
import { visitOf } from "../../visit.ts";
import { readSubscription, subscriptionTrail } from "./webhook-rows.ts";

/** Actions on webhooks: tests, retries, enabling, and, after a confirmation, disabling and stopping. */
export function subscriptionActions(
  router: Router,
  { webhookAllow }: Pick<AdministrationOptions, "webhookAllow">,
): void {
  router.post("/:id/test", async (request, response) => {
    const { id } = request.params;
    const made = await run(response, id, "select administration.test_webhook($1) as made", [id]);
    if (made !== refused) response.redirect(303, `/admin/webhooks/${id}/deliveries/${made}?done=tested`);
  });

  router.post("/:id/deliveries/:delivery/retry", async (request, response) => {
    const { id, delivery } = request.params;
    const statement = `select administration.retry_webhook_delivery(d.id) as made
      from administration.webhook_delivery($1) d where d.subscription_id = $2`;
    if ((await run(response, id, statement, [delivery, id])) !== refused)
      response.redirect(303, `/admin/webhooks/${id}/deliveries/${delivery}?done=retried`);
  });

  router.post("/:id/enable", async (request, response) => {
    const { id } = request.params;
    // Checks again whether its address may be called
    const statement =
      "select administration.set_webhook_enabled($1, true) as made from set_config('service.webhook_allow', $2, true)";
    if ((await run(response, id, statement, [id, webhookAllow])) !== refused)
      response.redirect(303, `/admin/webhooks/${id}?done=enabled`);
  });

  router.get("/:id/disable", async (request, response) => {
    const subscription = await visitOf(response).run((client) => readSubscription(client, request.params.id));
    showQuestion(response, {
      title: "Disable this subscription?",
      trail: subscriptionTrail(subscription),
      text: "Nothing is sent from now on. Waiting messages are kept until it is enabled again. Events in the meantime are not sent; the client can request them afterwards.",
      action: `/webhooks/${subscription.id}/disable`,
      submit: "Disable subscription",
      cancel: `/webhooks/${subscription.id}`,
    });
  });
  router.post("/:id/disable", async (request, response) => {
    const { id } = request.params;
    const statement = "select administration.set_webhook_enabled($1, false) as made";
    if ((await run(response, id, statement, [id])) !== refused)
      response.redirect(303, `/admin/webhooks/${id}?done=disabled`);
  });
  stopping(router);
}

/** Deliveries that are dropped in one transaction. */
const dropBatch = 5_000;
/** Milliseconds after which a page reports that there is more to drop, instead of continuing. */
const dropTimeoutMs = 20_000;

/** Stops a subscription and drops its waiting messages, after a confirmation. */
function stopping(router: Router): void {
  router.get("/:id/stop", async (request, response) => {
    const subscription = await visitOf(response).run((client) => readSubscription(client, request.params.id));
    const waiting = Number(subscription.backlog_count);
    const messages = waiting === 1 ? "1 waiting message is" : `${count(waiting)} waiting messages are`;
    showQuestion(response, {
      title: "Stop this subscription and drop its waiting messages?",
      trail: subscriptionTrail(subscription),
      text: `Nothing is sent from now on. ${waiting === 0 ? "No messages wait." : `${messages} dropped.`} The events stay in the log for 30 days, so the client can request them again once the subscription is enabled. To keep what waits, disable the subscription instead.`,
      action: `/webhooks/${subscription.id}/stop`,
      submit: "Stop and drop waiting messages",
      cancel: `/webhooks/${subscription.id}`,
    });
  });
  router.post("/:id/stop", async (request, response) => {
    const { id } = request.params;
    const stop = "select administration.stop_webhook($1) as made";
    if ((await run(response, id, stop, [id])) === refused) return;
    const drop = `select administration.drop_webhook_backlog($1, ${dropBatch}) as made`;
    const end = performance.now() + dropTimeoutMs;
    // A long backlog is dropped in parts, each in a short transaction
    while ((await run(response, id, drop, [id])) === dropBatch && performance.now() < end);
    response.redirect(303, `/admin/webhooks/${id}?done=stopped`);
  });
}

const refused = Symbol("refused");
/** The detail of an error of `mutation.refuse`: user errors, of which the first is shown. */
const refusals = z.tuple([z.object({ code: z.string(), message: z.string() })]).rest(z.unknown());

/**
 * Runs a statement and returns its value. Where a mutation would return user errors, it shows a page with the reason.
 */
async function run(response: Response, id: string, statement: string, values: string[]): Promise<unknown> {
  const { run } = visitOf(response);
  try {
    const { rows } = await run((client) => client.query<{ made: unknown }>(statement, values));
    if (rows.length === 0) throw missing();
    return rows[0]!.made;
  } catch (error) {
    // Raised by mutation.refuse
    if (!(error instanceof Error && "code" in error && error.code === "UE001" && "detail" in error))
      throw error;
    const [{ code, message }] = refusals.parse(JSON.parse(String(error.detail)));
    if (code === "NOT_FOUND") throw missing();
    const subscription = await run((client) => readSubscription(client, id));
    showPage(response, {
      status: 409,
      title: "This can’t be done",
      trail: subscriptionTrail(subscription),
      body: html`<p class="lead">${message}</p>
        <p><a href="/admin/webhooks/${id}">Back to the subscription</a></p>`,
    });
    return refused;
  }
}
