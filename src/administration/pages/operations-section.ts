import { Router } from "express";
import { html } from "../../html/html.ts";
import { table } from "../../html/pieces.ts";
import { count } from "../dates-and-numbers.ts";
import { showPage } from "../show-page.ts";
import { missing } from "../problem.ts";
import type { Section } from "../section.ts";
import { visitOf } from "../visit.ts";
import { operationPage } from "./operation-page.ts";
import { milliseconds, readOperations, titleOf } from "./operation-rows.ts";
import type { OperationRow } from "./operation-rows.ts";

/** The operations that take the database's time in the last 14 days, by total time or by the slowest statement. */
export const operationsSection: Section = {
  title: "Operations",
  path: "/operations",
  pages(options) {
    const router = Router();
    router.param("id", (_request, _response, next, id) =>
      next(/^[0-9a-f]{16}$/.test(String(id)) ? undefined : missing()),
    );
    router.get("/", async (request, response) => {
      const byWorst = request.query.by === "worst";
      const operations = await visitOf(response).run((client) => readOperations(client));
      if (byWorst) operations.sort((a, b) => b.slowest_ms - a.slowest_ms);
      const order = byWorst
        ? html`By the slowest statement. <a href="/admin/operations">Order by total time</a>`
        : html`By total time. <a href="/admin/operations?by=worst">Order by the slowest statement</a>`;
      showPage(response, {
        title: "Operations",
        body: html`
          <p class="lead">
            What tokens asked in the last 14 days, and how long the database took for it. Operations that
            differ only in names, aliases and values are one. Figures are some ten seconds late.
          </p>
          ${
            operations.length === 0
              ? html`<p class="card">No token has sent an operation in the last 14 days.</p>`
              : html`<p>${order}</p>
                  ${operationTable(operations)}`
          }
        `,
      });
    });
    operationPage(router, options);
    return router;
  },
};

const operationTable = (operations: readonly OperationRow[]) =>
  table(
    "Table of operations",
    [
      "Operation",
      "Version",
      ...["Requests", "Total", "Mean", "Slowest", "Tokens"].map((number) => ({ number })),
    ],
    operations.map((operation) => [
      html`<a href="/admin/operations/${operation.id}">${titleOf(operation)}</a>`,
      operation.version,
      count(operation.requests),
      milliseconds(operation.ms),
      milliseconds(operation.ms / operation.requests),
      milliseconds(operation.slowest_ms),
      count(operation.tokens),
    ]),
  );
