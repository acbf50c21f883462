import type { Router } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { genericPlan } from "../../../plans/explain.ts";
import type { IndexAdvice } from "../../../plans/index-advice.ts";
import { indexAdvice } from "../../../plans/index-advice.ts";
import { readableSignature } from "../../../graphql/signature.ts";
import { foreignBlock } from "../../foreign-text.ts";
import { count, day } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { showPage } from "../../page.ts";
import { missing } from "../../problem.ts";
import { visitOf } from "../../visit.ts";
import type { AdministrationOptions } from "../../section.ts";
import type { OperationRow } from "./operations.ts";
import { milliseconds, readOperations, titleOf } from "./operations.ts";

interface Sender {
  credential_id: string;
  credential_name: string;
  requests: number;
  ms: number;
  slowest_ms: number;
  last_used_on: Date;
}

interface Plan {
  text: string;
  advice: readonly IndexAdvice[];
}

/** Characters of texts that are shown. */
const maxShown = 20_000;

/** The page of an operation: what it asks, who sends it, its statement, the plan, and the index that it lacks. */
export function operationPage(router: Router, { pool, logger }: AdministrationOptions): void {
  router.get("/:id", async (request, response) => {
    const { operation, senders } = await visitOf(response).run(async (client) => {
      const [operation] = await readOperations(client, request.params.id);
      if (!operation) throw missing();
      const { rows } = await client.query<Sender>(
        `select credential_id, credential_name, requests::float8, ms, slowest_ms, last_used_on::timestamptz
         from administration.operation_senders($1)`,
        [operation.id],
      );
      return { operation, senders: rows };
    });
    const plan = operation.statement === null ? null : await planOf(pool, logger, operation.statement);
    showPage(response, {
      title: titleOf(operation),
      trail: [{ title: "Operations", path: "/operations" }],
      body: html`${facts(operation)} ${senderTable(senders)}
        <h2>Operation</h2>
        ${foreignBlock("Operation", readableSignature(operation.document), maxShown)}
        ${statementParts(operation, plan)}`,
    });
  });
}

/** Nothing of the statement runs: Postgres only plans it, with the rights of clients. */
async function planOf(pool: Pool, logger: Logger, statement: string): Promise<Plan | null> {
  const client = await pool.connect();
  let isWell = false;
  try {
    const { text } = await genericPlan(client, statement);
    const plan = { text, advice: await indexAdvice(client, statement) };
    isWell = true;
    return plan;
  } catch (error) {
    logger.debug({ err: error }, "a statement can't be planned");
    return null;
  } finally {
    client.release(!isWell);
  }
}

function facts({ id, version, requests, ms, slowest_ms }: OperationRow): Html {
  const all = [
    ["Id", html`<code>${id}</code>`],
    ["Version", version],
    ["Requests", count(requests)],
    ["Total", milliseconds(ms)],
    ["Slowest statement", milliseconds(slowest_ms)],
  ] as const;
  return html`<dl class="card facts columns">
    ${all.map(
      ([title, value]) =>
        html`<div>
          <dt>${title}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

const senderTable = (senders: readonly Sender[]): Html => html`
  <h2>Tokens that send it</h2>
  <div class="wide" role="region" aria-label="Table of tokens" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Token</th>
          <th scope="col">Last sent on</th>
          <th scope="col" class="number">Requests</th>
          <th scope="col" class="number">Total</th>
          <th scope="col" class="number">Slowest</th>
        </tr>
      </thead>
      <tbody>
        ${senders.map(
          (sender) =>
            html`<tr>
              <th scope="row">
                <a href="/admin/tokens/${sender.credential_id}">${sender.credential_name}</a>
              </th>
              <td>${day(sender.last_used_on)}</td>
              <td class="number">${count(sender.requests)}</td>
              <td class="number">${milliseconds(sender.ms)}</td>
              <td class="number">${milliseconds(sender.slowest_ms)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>
`;

function statementParts({ statement }: OperationRow, plan: Plan | null): Html {
  if (statement === null)
    return html`<p class="quiet">Its slowest statement is too long to be kept, or it needed none.</p>`;
  return html`
    <h2>Slowest statement</h2>
    ${foreignBlock("Slowest statement", statement, maxShown)}
    <h2>Plan</h2>
    ${
      plan === null
        ? html`<p class="quiet">
            Postgres can't plan it any more: the database has changed since it was sent.
          </p>`
        : html`${foreignBlock("Plan", plan.text, maxShown)} ${adviceParts(plan.advice)}`
    }
  `;
}

function adviceParts(advice: readonly IndexAdvice[]): Html {
  const helpful = advice.filter(({ helps }) => helps);
  const others = advice.filter(({ helps }) => !helps);
  if (advice.length === 0) return html`<p>No index is missing.</p>`;
  return html`
    ${
      helpful.length > 0 &&
      html`<p>
          An index would let it find rows instead of reading the whole table.
          <code>npm run db:slow -- … --try</code> says what it would change.
        </p>
        <ul>
          ${helpful.map(({ ddl, rows }) => html`<li><code>${ddl}</code> for ${count(rows)} rows</li>`)}
        </ul>`
    }
    ${others.map(
      ({ table, columns }) =>
        html`<p>
          No index on ${table} (${columns.join(", ")}) would help: Postgres hides rows before it compares them
          by what isn't leakproof.
        </p>`,
    )}
  `;
}
