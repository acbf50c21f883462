import { html, table } from "../../../html/html.ts";
import { moment } from "../../formats.ts";
import type { Section } from "../../section.ts";
import type { Page } from "../../show-page.ts";
import type { Visit } from "../../visit.ts";
import { readMerchantPlan } from "../plan-section.ts";
import { accessSummary } from "./token-access.ts";
import { credentialActions } from "./token-actions.ts";
import { credentialForms } from "./token-forms.ts";
import { credentialPage } from "./token-page.ts";
import { rotationPages } from "./token-rotation.ts";
import { readCredentials, stateBadges } from "./token-rows.ts";

const planNotes = {
  none: "The plan has no API: every request is refused, whatever access the API credential has.",
  read_only: "The plan is read-only: mutations are refused, whatever access the API credential has.",
};

/** The section of API credentials. Its paths say `tokens`, an older name. */
export const credentialsSection: Section = {
  title: "API credentials",
  path: "/tokens",
  pages: (options) => ({
    "GET /": listPage,
    ...credentialForms,
    "GET /:id": (visit, id) => credentialPage(visit, id, options),
    ...rotationPages,
    ...credentialActions,
  }),
};

const listPage = ({ run }: Visit): Promise<Page> =>
  run(async (client) => {
    const tokens = await readCredentials(client);
    const plan = await readMerchantPlan(client);
    const rows = tokens.map((token) => [
      html`<a href="/admin/tokens/${token.id}">${token.name}</a>
        <p class="quiet">${accessSummary(token.scopes)}</p>`,
      token.lastUsedAt ? html`Last used ${moment(token.lastUsedAt)}` : "Never used",
      stateBadges(token),
    ]);
    return {
      title: "API credentials",
      aside: html`<a class="button main" href="/admin/tokens/new">New API credential</a>`,
      notices: { deleted: "The API credential has been deleted." },
      body: html`
        <p class="lead">
          An API credential lets one client use the API: a shop, a warehouse app, a report. Give each client
          its own, so that you can see what it does and stop only that client.
        </p>
        <p class="quiet">
          An API credential is also called a GraphQL API token, and its client ID an access key.
        </p>
        ${
          plan.name !== "full" &&
          html`<p class="notice warning">${planNotes[plan.name]} <a href="/admin/plan">Show the plan</a></p>`
        }
        ${
          rows.length === 0
            ? html`<p class="card">There are no API credentials yet.</p>`
            : table("API credentials", ["API credential", "Use", "State"], rows)
        }
      `,
    };
  });
