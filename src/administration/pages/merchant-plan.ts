import { Router } from "express";
import type { Limits } from "../../graphql/limits.ts";
import { csrfField } from "../csrf.ts";
import { merchantPlanNames } from "../events.ts";
import { choice, noticeOf, textField } from "../forms.ts";
import { count } from "../format.ts";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import type { Section } from "../section.ts";
import { showPage } from "../page.ts";
import { readMerchantPlan } from "../merchant-plan.ts";
import { Problem } from "../problem.ts";
import { visitOf } from "../visit.ts";

const hints: Record<string, string> = {
  full: "Tokens may read and write, as far as each is allowed to.",
  read_only: "Queries work. Every mutation is refused, whatever the token may do.",
  none: "The API is switched off: every request is refused, with status 402.",
};

const limitNames: Record<keyof Limits, string> = {
  depth: "Depth: fields within fields",
  relations: "Relations and lists in one operation",
  aliases: "Aliases in one document",
  directives: "Directives in one document",
  tokens: "Words and signs in one document",
  mutations: "Mutations in one operation",
  cost: "Points of one operation",
  bucket: "Points that a token can save up",
  refill: "Points that a token gets per second",
};

const notices = { changed: "The plan has been changed and applies from now on." };

/** The merchant's plan. */
export const merchantPlanSection: Section = {
  title: "Plan",
  path: "/plan",
  pages({ limits }) {
    const router = Router();
    router.get("/", async (request, response) => {
      const visit = visitOf(response);
      const current = await visit.run(readMerchantPlan);
      showPage(response, {
        title: "Plan",
        notice: noticeOf(request, notices),
        body: html`
          <p class="lead">The plan limits what all tokens may do. A change takes effect at once.</p>
          <form method="post" action="/admin/plan" class="card">
            ${csrfField(visit)}
            ${choice({
              name: "plan",
              legend: "Plan",
              options: Object.entries(hints).map(([value, hint]) => ({
                value,
                hint,
                label: merchantPlanNames[value]!,
              })),
              chosen: current.name,
            })}
            <div class="actions"><button class="main">Save</button></div>
          </form>
          ${limitTable({ ...limits, ...current.limits })}
        `,
      });
    });
    router.post("/", async (request, response) => {
      const name = textField(request, "plan");
      if (!Object.hasOwn(hints, name)) throw new Problem(400, "malformed");
      await visitOf(response).run(async (client) => {
        if ((await readMerchantPlan(client)).name !== name)
          await client.query("select administration.set_plan($1)", [name]);
      });
      response.redirect(303, "/admin/plan?done=changed");
    });
    return router;
  },
};

function limitTable(limits: Limits): Html {
  return html`<section class="card" aria-labelledby="limits">
    <h2 id="limits">Limits</h2>
    <p class="quiet">
      The maximum for one operation, and for one token: from the settings of the service, or from the plan
      where <code>npx erp plan</code> has set others.
    </p>
    <dl class="facts rows">
      ${Object.entries(limitNames).map(
        ([name, title]) =>
          html`<div>
            <dt>${title}</dt>
            <dd>${count(limits[name as keyof Limits])}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}
