import type { Router } from "express";
import { noticeOf } from "../../forms.ts";
import { moment } from "../../format.ts";
import { html } from "../../html.ts";
import { showPage } from "../../page.ts";
import { visitOf } from "../../visit.ts";
import { readMerchantPlan } from "../../merchant-plan.ts";
import { accessSummary } from "./access.ts";
import { readTokens, state } from "./tokens.ts";

const notices = { deleted: "The token has been deleted." };

const planNotes = {
  none: "The plan has no API: every request is refused, whatever the token may do.",
  read_only: "The plan is read-only: mutations are refused, whatever the token may do.",
};

/** The list of all tokens. */
export function tokenListPage(router: Router): void {
  router.get("/", async (request, response) => {
    const { tokens, plan } = await visitOf(response).run(async (client) => ({
      tokens: await readTokens(client),
      plan: await readMerchantPlan(client),
    }));
    showPage(response, {
      title: "GraphQL API tokens",
      aside: html`<a class="button main" href="/admin/tokens/new">New token</a>`,
      notice: noticeOf(request, notices),
      body: html`
        <p class="lead">
          A token lets one client use the API: a shop, a warehouse app, a report. Give each client its own, so
          that you can see what it does and stop it alone.
        </p>
        ${
          plan.name !== "full" &&
          html`<p class="notice warning">
            ${planNotes[plan.name]} <a href="/admin/plan">Look at the plan</a>
          </p>`
        }
        ${
          tokens.length === 0
            ? html`<p class="card empty">There are no tokens yet.</p>`
            : html`<ul class="tokens">
                ${tokens.map(
                  (token) =>
                    html`<li class="card">
                      <div class="name">
                        <h2><a href="/admin/tokens/${token.id}">${token.name}</a></h2>
                        <p class="quiet">${accessSummary(token.scopes)}</p>
                      </div>
                      <p class="used">
                        ${token.lastUsedAt ? html`Last used ${moment(token.lastUsedAt)}` : "Never used"}
                      </p>
                      <p class="state">${state(token)}</p>
                    </li>`,
                )}
              </ul>`
        }
      `,
    });
  });
}
