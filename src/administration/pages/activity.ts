import { Router } from "express";
import { eventList } from "../events.ts";
import type { AuditEvent } from "../events.ts";
import { html } from "../html.ts";
import type { Section } from "../section.ts";
import { showPage } from "../page.ts";
import { missing } from "../problem.ts";
import { isUuid } from "../../lib/uuid.ts";
import { visitOf } from "../visit.ts";

const pageSize = 50;

/** The audit log: actions, actors and times. */
export const activity: Section = {
  title: "Activity",
  path: "/activity",
  pages() {
    const router = Router();
    router.get("/", async (request, response) => {
      const before = request.query.before ?? null;
      if (before !== null && !isUuid(before)) throw missing();
      const { rows: events } = await visitOf(response).run((client) =>
        client.query<AuditEvent>("select * from administration.activity(null, $1, $2)", [
          before,
          pageSize + 1,
        ]),
      );
      const shown = events.slice(0, pageSize);
      const hasMore = events.length > pageSize;
      showPage(response, {
        title: "Activity",
        body: html`
          <p class="lead">Actions here and at the command line, newest first. Times are in UTC.</p>
          ${shown.length > 0 ? html`<div class="card">${eventList(shown)}</div>` : html`<p>There is nothing older.</p>`}
          <div class="actions">
            ${before !== null && html`<a class="button" href="/admin/activity">Newest</a>`}
            ${hasMore && html`<a class="button" href="/admin/activity?before=${shown.at(-1)!.id}">Older</a>`}
          </div>
        `,
      });
    });
    return router;
  },
};
