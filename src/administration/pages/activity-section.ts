import { html } from "../../html/html.ts";
import { auditList } from "../audit-list.ts";
import type { AuditEvent } from "../audit-list.ts";
import { readPage } from "../paging.ts";
import type { Section } from "../section.ts";

/** The audit log: actions, actors and times. */
export const activity: Section = {
  title: "Activity",
  path: "/activity",
  pages: () => ({
    "GET /": async (visit) => {
      const { rows, links } = await visit.run((client) =>
        readPage<AuditEvent>(visit, client, "activity(null, $1, $2)"),
      );
      return {
        title: "Activity",
        body: html`
          <p class="lead">Actions here and at the command line, newest first. Times are in UTC.</p>
          ${rows.length > 0 ? auditList(rows) : html`<p>There is nothing older.</p>`} ${links}
        `,
      };
    },
  }),
};
