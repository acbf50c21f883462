import { Router } from "express";
import { isUuid } from "../../../lib/uuid.ts";
import type { Section } from "../../section.ts";
import { missing } from "../../problem.ts";
import { changePages } from "./change.ts";
import { createPages } from "./create.ts";
import { detailPage } from "./detail.ts";
import { tokenListPage } from "./list.ts";
import { rotatePages } from "./rotate.ts";
import { statePages } from "./state.ts";

/** API credentials, called tokens on pages. */
export const tokensSection: Section = {
  title: "GraphQL API tokens",
  path: "/tokens",
  pages(options) {
    const router = Router();
    router.param("id", (_request, _response, next, id) => next(isUuid(id) ? undefined : missing()));
    tokenListPage(router);
    createPages(router);
    detailPage(router, options);
    changePages(router);
    rotatePages(router);
    statePages(router);
    return router;
  },
};
