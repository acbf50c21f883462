import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { readableSignature } from "../../graphql/signature.ts";
import { facts, html, table } from "../../html/html.ts";
import type { Html } from "../../html/html.ts";
import { genericPlan } from "../../plans/explain.ts";
import type { IndexAdvice } from "../../plans/index-advice.ts";
import { indexAdvice } from "../../plans/index-advice.ts";
import { count, day, clientTextBlock, milliseconds } from "../formats.ts";
import { requireFound } from "../problem.ts";
import type { AdministrationOptions, Section } from "../section.ts";
import type { Page } from "../show-page.ts";
import { queryParameter } from "../forms.ts";
import type { Visit } from "../visit.ts";

/** The number of requests with an operation, and the database's time for them. */
interface OperationFigures {
  requests: number;
  ms: number;
  slowest_ms: number;
}

export interface Operation extends OperationFigures {
  id: string;
  version: string;
  /** The name that the client gives the operation. GraphQL allows only letters, digits and _. */
  name: string | null;
  document: string;
  statement: string | null;
  tokens: number;
}

interface Sender extends OperationFigures {
  credential_id: string;
  credential_name: string;
  last_used_on: Date;
}

interface Plan {
  text: string;
  advice: readonly IndexAdvice[];
}

/** Most characters shown of a text. */
const maxShown = 20_000;

/** The operations of the last 14 days, by the database's total time or by the slowest statement. */
export const operationsSection: Section = {
  title: "Operations",
  path: "/operations",
  pages: (options) => ({
    "GET /": listPage,
    "GET /:id": (visit, id) => operationPage(visit, id, options),
  }),
};

/** Reads the operations that took the most time, or one operation. */
async function readOperations(client: PoolClient, id: string | null = null): Promise<Operation[]> {
  const { rows } = await client.query<Operation>(
    `select id, version, name, document, statement, requests::float8, ms, slowest_ms, tokens::float8
     from administration.operations($1)`,
    [id],
  );
  return rows;
}

async function listPage(visit: Visit): Promise<Page> {
  const byWorst = queryParameter(visit, "by") === "worst";
  const operations = await visit.run((client) => readOperations(client));
  if (byWorst) operations.sort((a, b) => b.slowest_ms - a.slowest_ms);
  const order = byWorst
    ? html`By the slowest statement. <a href="/admin/operations">Sort by total time</a>`
    : html`By total time. <a href="/admin/operations?by=worst">Sort by the slowest statement</a>`;
  return {
    title: "Operations",
    body: html`
      <p class="lead">
        The operations that API credentials sent in the last 14 days, and the database’s time for them.
        Operations that differ only in names, aliases and values are counted as one. Figures are about ten
        seconds late.
      </p>
      ${
        operations.length === 0
          ? html`<p class="card">No API credential has sent an operation in the last 14 days.</p>`
          : html`<p>${order}</p>
              ${operationTable(operations)}`
      }
    `,
  };
}

const operationTable = (operations: readonly Operation[]): Html =>
  table(
    "Table of operations",
    [
      "Operation",
      "Version",
      ...["Requests", "Total", "Mean", "Slowest", "API credentials"].map((number) => ({ number })),
    ],
    operations.map(({ id, name, version, requests, ms, slowest_ms, tokens }) => [
      html`<a href="/admin/operations/${id}">${name ?? id}</a>`,
      version,
      count(requests),
      milliseconds(ms),
      milliseconds(ms / requests),
      milliseconds(slowest_ms),
      count(tokens),
    ]),
  );

/** The page of an operation: its document, its senders, its statement, the plan, and a missing index. */
async function operationPage(
  visit: Visit,
  id: string,
  { pool, logger }: AdministrationOptions,
): Promise<Page> {
  const { operation, senders } = await visit.run(async (client) => {
    const operation = requireFound((await readOperations(client, id))[0]);
    const { rows: senders } = await client.query<Sender>(
      `select credential_id, credential_name, requests::float8, ms, slowest_ms, last_used_on::timestamptz
       from administration.operation_senders($1)`,
      [id],
    );
    return { operation, senders };
  });
  const { version, name, document, statement, requests, ms, slowest_ms } = operation;
  const plan = statement === null ? null : await planStatement(pool, logger, statement);
  return {
    title: name ?? id,
    body: html`${facts([
        ["ID", html`<code>${id}</code>`],
        ["Version", version],
        ["Requests", count(requests)],
        ["Total", milliseconds(ms)],
        ["Slowest statement", milliseconds(slowest_ms)],
      ])}
      <h2>API credentials that send it</h2>
      ${senderTable(senders)}
      <h2>Operation</h2>
      ${clientTextBlock("Operation", readableSignature(document), maxShown)}
      ${statementParts(statement, plan)}`,
  };
}

/** Lets Postgres plan the statement with the rights of clients. The statement isn't run. */
async function planStatement(pool: Pool, logger: Logger, statement: string): Promise<Plan | null> {
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

const senderTable = (senders: readonly Sender[]): Html =>
  table(
    "Table of API credentials",
    ["API credential", "Last sent on", ...["Requests", "Total", "Slowest"].map((number) => ({ number }))],
    senders.map((sender) => [
      html`<a href="/admin/tokens/${sender.credential_id}">${sender.credential_name}</a>`,
      day(sender.last_used_on),
      count(sender.requests),
      milliseconds(sender.ms),
      milliseconds(sender.slowest_ms),
    ]),
  );

function statementParts(statement: string | null, plan: Plan | null): Html {
  if (statement === null)
    return html`<p class="quiet">Its slowest statement is too long to be stored, or it needed none.</p>`;
  return html`
    <h2>Slowest statement</h2>
    ${clientTextBlock("Slowest statement", statement, maxShown)}
    <h2>Plan</h2>
    ${
      plan === null
        ? html`<p class="quiet">
            Postgres can’t plan it any more: the database has changed since the operation was sent.
          </p>`
        : html`${clientTextBlock("Plan", plan.text, maxShown)} ${adviceParts(plan.advice)}`
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
          With an index, it would find rows instead of reading the whole table.
          <code>npx erp db slow … --try</code> shows what an index would change.
        </p>
        <ul>
          ${helpful.map(({ ddl, rows }) => html`<li><code>${ddl}</code> for ${count(rows)} rows</li>`)}
        </ul>`
    }
    ${others.map(
      ({ table, columns }) =>
        html`<p>
          An index on ${table} (${columns.join(", ")}) wouldn’t help: its comparison isn’t leakproof, so
          Postgres applies row-level security first.
        </p>`,
    )}
  `;
}
