import { Router } from "express";
import type { PoolClient } from "pg";
import type { MerchantPlanName } from "../../auth/merchant-plan.ts";
import type { Limits } from "../../graphql/limits.ts";
import { html } from "../../html/html.ts";
import type { Html } from "../../html/html.ts";
import { facts, section } from "../../html/pieces.ts";
import { merchantPlanNames } from "../audit-list.ts";
import { choice, form, noticeOf, textField } from "../forms.ts";
import { count } from "../dates-and-numbers.ts";
import { showPage } from "../show-page.ts";
import { malformed } from "../problem.ts";
import type { Section } from "../section.ts";
import { visitOf } from "../visit.ts";

/** The merchant's plan. */
export interface StoredMerchantPlan {
  name: MerchantPlanName;
  /** Limits that differ from the settings. */
  limits: Record<string, number>;
}

/** Reads the current plan. */
export async function readMerchantPlan(client: PoolClient): Promise<StoredMerchantPlan> {
  const { rows } = await client.query<StoredMerchantPlan>(
    "select name, limits from administration.plans() where is_current",
  );
  return rows[0]!;
}

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
          ${form(visit, {
            action: "/plan",
            fields: choice({
              name: "plan",
              legend: "Plan",
              options: Object.entries(hints).map(([value, hint]) => ({
                value,
                hint,
                label: merchantPlanNames[value]!,
              })),
              chosen: current.name,
            }),
            submit: "Save",
          })}
          ${limitTable({ ...limits, ...current.limits })}
        `,
      });
    });
    router.post("/", async (request, response) => {
      const name = textField(request, "plan");
      if (!Object.hasOwn(hints, name)) throw malformed();
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
  const names = Object.entries(limitNames) as [keyof Limits, string][];
  return section(
    "limits",
    "Limits",
    html`<p class="quiet">
        The maximum for one operation, and for one token: from the settings of the service, or from the plan
        where <code>npx erp plan</code> has set others.
      </p>
      ${facts(names.map(([name, title]) => [title, count(limits[name])]))}`,
  );
}
