import { Router } from "express";
import { html } from "../../html/html.ts";
import { auditList } from "../audit-list.ts";
import type { AuditEvent } from "../audit-list.ts";
import { showPage } from "../show-page.ts";
import { pageOf, pageSize, startOfPage } from "../paging.ts";
import type { Section } from "../section.ts";
import { rowsOf, visitOf } from "../visit.ts";

/** The audit log: actions, actors and times. */
export const activity: Section = {
  title: "Activity",
  path: "/activity",
  pages() {
    const router = Router();
    router.get("/", async (request, response) => {
      const before = startOfPage(request);
      const rows = await visitOf(response).run((client) =>
        rowsOf<AuditEvent>(client, "activity(null, $1, $2)", before, pageSize + 1),
      );
      const { shown, links } = pageOf(rows, before, "/admin/activity");
      showPage(response, {
        title: "Activity",
        body: html`
          <p class="lead">Actions here and at the command line, newest first. Times are in UTC.</p>
          ${shown.length > 0 ? auditList(shown) : html`<p>There is nothing older.</p>`} ${links}
        `,
      });
    });
    return router;
  },
};
