import type { Router } from "express";
import { count } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { showPage } from "../../page.ts";
import { visitOf } from "../../visit.ts";
import type { OperationRow } from "./operations.ts";
import { milliseconds, readOperations, titleOf } from "./operations.ts";

/** The operations of the last 14 days, by total time or by the slowest statement. */
export function operationListPage(router: Router): void {
  router.get("/", async (request, response) => {
    const byWorst = request.query.by === "worst";
    const operations = await visitOf(response).run((client) => readOperations(client));
    if (byWorst) operations.sort((a, b) => b.slowest_ms - a.slowest_ms);
    showPage(response, {
      title: "Operations",
      body: html`
        <p class="lead">
          What tokens asked in the last 14 days, and how long the database took for it. Operations that differ
          only in names, aliases and values are one. Figures are some ten seconds late.
        </p>
        ${
          operations.length === 0
            ? html`<p class="card empty">No token has sent an operation in the last 14 days.</p>`
            : html`<p>
                  ${
                    byWorst
                      ? html`By the slowest statement. <a href="/admin/operations">Order by total time</a>`
                      : html`By total time.
                          <a href="/admin/operations?by=worst">Order by the slowest statement</a>`
                  }
                </p>
                ${table(operations)}`
        }
      `,
    });
  });
}

const table = (operations: readonly OperationRow[]): Html => html`
  <div class="wide" role="region" aria-label="Table of operations" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Operation</th>
          <th scope="col">Version</th>
          <th scope="col" class="number">Requests</th>
          <th scope="col" class="number">Total</th>
          <th scope="col" class="number">Mean</th>
          <th scope="col" class="number">Slowest</th>
          <th scope="col" class="number">Tokens</th>
        </tr>
      </thead>
      <tbody>
        ${operations.map(
          (operation) =>
            html`<tr>
              <th scope="row">
                <a href="/admin/operations/${operation.id}">${titleOf(operation)}</a>
              </th>
              <td>${operation.version}</td>
              <td class="number">${count(operation.requests)}</td>
              <td class="number">${milliseconds(operation.ms)}</td>
              <td class="number">${milliseconds(operation.ms / operation.requests)}</td>
              <td class="number">${milliseconds(operation.slowest_ms)}</td>
              <td class="number">${count(operation.tokens)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>
`;
