import { Router } from "express";
import { isUuid } from "../../../lib/uuid.ts";
import type { Section } from "../../section.ts";
import { missing } from "../../problem.ts";
import { subscriptionActions } from "./actions.ts";
import { deliveryPage } from "./delivery.ts";
import { webhookListPage } from "./list.ts";
import { subscriptionPage } from "./subscription.ts";

/** Webhooks: subscriptions, their deliveries, and the answers. */
export const webhooksSection: Section = {
  title: "Webhooks",
  path: "/webhooks",
  pages(options) {
    const router = Router();
    for (const name of ["id", "delivery"])
      router.param(name, (_request, _response, next, id) => next(isUuid(id) ? undefined : missing()));
    webhookListPage(router);
    subscriptionPage(router);
    deliveryPage(router);
    subscriptionActions(router, options);
    return router;
  },
};
