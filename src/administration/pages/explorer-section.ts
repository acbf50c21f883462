import { createHash } from "node:crypto";
import { Router } from "express";
import type { Response } from "express";
import type { PoolClient } from "pg";
import { createClientCredentials, credentialOf, hashOfSecret } from "../../auth/credentials.ts";
import type { ClientCredentials, CredentialOverview, CredentialRow } from "../../auth/credentials.ts";
import { credentialsKey, explorerPathOf } from "../../versions/explorer-page.ts";
import { html } from "../../html/html.ts";
import { form } from "../forms.ts";
import type { FieldErrors } from "../forms.ts";
import { showPage } from "../show-page.ts";
import type { Section } from "../section.ts";
import { rowsOf, visitOf, visitorOf } from "../visit.ts";
import type { VisitingAdministrator } from "../visit.ts";
import { accessFields, chosenScopes, readScopes } from "./tokens/token-access.ts";

/** Hours for which the explorer is open. */
const hours = 1;

const title = "Explorer";

/** Opens the explorer with a token of the administrator's own, which ends after an hour. */
export const explorerSection: Section = {
  title,
  path: "/explorer",
  isServed: ({ explorer }) => explorer,
  pages({ versions }) {
    const router = Router();
    const head = versions.find(({ kind }) => kind === "floating") ?? versions[0]!;
    router.get("/", async (_request, response) => {
      const { known, scopes } = await visitOf(response).run(async (client) => {
        const known = await readScopes(client);
        const reading = known.filter((scope) => scope.endsWith(":read"));
        return { known, scopes: (await readOwn(client, visitorOf(response)))?.scopes ?? reading };
      });
      showForm(response, known, scopes);
    });

    router.post("/", async (request, response) => {
      const { run } = visitOf(response);
      const known = await run(readScopes);
      const scopes = chosenScopes(request, known);
      if (scopes.length === 0)
        return showForm(response, known, scopes, { "access-heading": "Choose what to read or write." });
      const issued = await run((client) => issue(client, visitorOf(response), scopes));
      showWayOn(response, issued, explorerPathOf(head));
    });
    return router;
  },
};

/** The id of an administrator's token for the explorer: always the same, so that there is only one. */
function idOf({ id }: VisitingAdministrator): string {
  const hash = createHash("sha256").update(`explorer of ${id}`).digest("hex");
  // A UUID of version 8 (RFC 9562 §5.8)
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join("-");
}

/** The administrator's token for the explorer; null before the first time. */
async function readOwn(
  client: PoolClient,
  visitor: VisitingAdministrator,
): Promise<CredentialOverview | null> {
  const [row] = await rowsOf<CredentialRow>(client, "credentials($1)", idOf(visitor));
  return row ? credentialOf(row) : null;
}

/** Gives the administrator's token these scopes, another key, and an hour. The key of before stops. */
async function issue(
  client: PoolClient,
  visitor: VisitingAdministrator,
  scopes: string[],
): Promise<ClientCredentials> {
  const id = idOf(visitor);
  const name = [...`Explorer of ${visitor.name}`].slice(0, 100).join("");
  const issued = createClientCredentials();
  const { clientId } = issued;
  const secretHash = hashOfSecret(issued.clientSecret);
  // A form that is sent twice waits for itself
  await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [id]);
  const present = await readOwn(client, visitor);
  if (!present)
    await client.query("select administration.create_credential($1, $2, $3, $4, $5)", [
      id,
      name,
      scopes,
      clientId,
      secretHash,
    ]);
  await client.query("select administration.limit_credential($1, make_interval(hours => $2))", [id, hours]);
  if (present) {
    await client.query("select administration.set_credential_active($1, true)", [id]);
    await client.query("select administration.change_credential($1, $2, $3)", [id, name, scopes]);
    const { rows } = await client.query<{ done: boolean }>(
      "select administration.rotate_credential($1, $2, $3, $4, interval '0') as done",
      [id, present.clientId, clientId, secretHash],
    );
    if (!rows[0]!.done) throw new Error("The token for the explorer was rotated by somebody else meanwhile.");
  }
  return { id, ...issued };
}

function showForm(response: Response, known: string[], scopes: string[], errors: FieldErrors = {}): void {
  showPage(response, {
    title,
    errors,
    body: html`
      <p class="lead">
        Try operations of the API in the browser, with a token of your own that works for one hour. What it
        writes is real. Opening the explorer again ends the hour of before.
      </p>
      ${form(visitOf(response), {
        action: "/explorer",
        fields: accessFields(known, scopes),
        submit: "Open the explorer",
      })}
    `,
  });
}

/** Hands the credentials to the explorer: the script puts them where the explorer keeps them, and goes there. */
function showWayOn(
  response: Response,
  { clientId: id, clientSecret: secret }: ClientCredentials,
  path: string,
): void {
  const credentials = JSON.stringify({ id, secret });
  showPage(response, {
    title: "Opening the explorer",
    body: html`
      <div data-way-on="${path}" data-key="${credentialsKey}" data-value="${credentials}"></div>
      <p class="lead">The explorer needs JavaScript.</p>
    `,
  });
}
