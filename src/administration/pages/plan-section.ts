import type { PoolClient } from "pg";
import type { MerchantPlanName } from "../../auth/merchant-plan.ts";
import type { Limits } from "../../graphql/limits.ts";
import { facts, html, section } from "../../html/html.ts";
import type { Html } from "../../html/html.ts";
import { merchantPlanNames } from "../audit-list.ts";
import { choice, form, textField } from "../forms.ts";
import { count } from "../formats.ts";
import { badRequest } from "../problem.ts";
import type { Section } from "../section.ts";
import { callForRow, callForValue } from "../visit.ts";

/** The merchant's plan. */
export interface StoredMerchantPlan {
  name: MerchantPlanName;
  /** Limits that override the settings. */
  limits: Record<string, number>;
}

/** Reads the current plan. */
export const readMerchantPlan = (client: PoolClient): Promise<StoredMerchantPlan> =>
  callForRow(client, "plans() where is_current");

const hints: Record<string, string> = {
  full: "API credentials may read and write, within the access of each.",
  read_only: "Queries work. Every mutation is refused, whatever access the API credential has.",
  none: "The API is switched off: every request is refused, with status 402.",
};

const limitNames: Record<keyof Limits, string> = {
  depth: "Depth of nested fields",
  relations: "Relations and lists in one operation",
  aliases: "Aliases in one document",
  directives: "Directives in one document",
  tokens: "Lexical tokens in one document",
  mutations: "Mutations in one operation",
  cost: "Points of one operation",
  bucket: "Points that an API credential can save up",
  refill: "Points that an API credential gets per second",
};

/** The page of the merchant's plan. */
export const merchantPlanSection: Section = {
  title: "Plan",
  path: "/plan",
  pages: ({ limits }) => ({
    "GET /": async (visit) => {
      const current = await visit.run(readMerchantPlan);
      const options = Object.entries(hints).map(([value, hint]) => {
        return { value, hint, label: merchantPlanNames[value]! };
      });
      return {
        title: "Plan",
        notices: { changed: "The plan has been changed and applies from now on." },
        body: html`
          <p class="lead">The plan limits all API credentials. A change takes effect at once.</p>
          ${form(visit, {
            fields: choice({ name: "plan", legend: "Plan", options, chosen: current.name }),
            submit: "Save",
          })}
          ${limitTable({ ...limits, ...current.limits })}
        `,
      };
    },
    "POST /": async (visit) => {
      const name = textField(visit, "plan");
      if (!Object.hasOwn(hints, name)) throw badRequest();
      await visit.run(async (client) => {
        if ((await readMerchantPlan(client)).name !== name) await callForValue(client, "set_plan($1)", name);
      });
      return "/admin/plan?done=changed";
    },
  }),
};

function limitTable(limits: Limits): Html {
  const names = Object.entries(limitNames) as [keyof Limits, string][];
  return section(
    "limits",
    "Limits",
    html`<p class="quiet">
        The limits of one operation and of one API credential. They come from the settings of the service,
        unless <code>npx erp plan</code> has set others.
      </p>
      ${facts(names.map(([name, title]) => [title, count(limits[name])]))}`,
  );
}
