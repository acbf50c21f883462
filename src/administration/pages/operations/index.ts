import { Router } from "express";
import { missing } from "../../problem.ts";
import type { Section } from "../../section.ts";
import { operationPage } from "./detail.ts";
import { operationListPage } from "./list.ts";

/** Which operations take the database's time. */
export const operationsSection: Section = {
  title: "Operations",
  path: "/operations",
  pages(options) {
    const router = Router();
    router.param("id", (_request, _response, next, id) =>
      next(/^[0-9a-f]{16}$/.test(String(id)) ? undefined : missing()),
    );
    operationListPage(router);
    operationPage(router, options);
    return router;
  },
};
