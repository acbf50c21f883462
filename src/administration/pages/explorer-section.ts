import { createHash } from "node:crypto";
import type { PoolClient } from "pg";
import { createClientCredentials, hashOfSecret } from "../../auth/credentials.ts";
import type { ClientCredentials } from "../../auth/credentials.ts";
import { credentialsKey, explorerPathOf } from "../../versions/explorer-page.ts";
import { html } from "../../html/html.ts";
import { form } from "../forms.ts";
import type { FieldErrors } from "../forms.ts";
import type { Section } from "../section.ts";
import type { Page } from "../show-page.ts";
import { valueOf, visitorOf } from "../visit.ts";
import type { Visit, VisitingAdministrator } from "../visit.ts";
import { accessFields, chosenScopes, readScopes } from "./tokens/token-access.ts";
import { readTokens } from "./tokens/token-rows.ts";

/** Hours for which the explorer is open. */
const hours = 1;

const title = "Explorer";

/** Opens the explorer with a token of the administrator's own, which ends after an hour. */
export const explorerSection: Section = {
  title,
  path: "/explorer",
  isServed: ({ explorer }) => explorer,
  pages({ versions }) {
    const head = versions.find(({ kind }) => kind === "floating") ?? versions[0]!;
    return {
      "GET /": (visit) =>
        visit.run(async (client) => {
          const known = await readScopes(client);
          const [own] = await readTokens(client, idOf(visitorOf(visit)));
          const scopes = own?.scopes ?? known.filter((scope) => scope.endsWith(":read"));
          return explorerForm(visit, known, scopes);
        }),
      "POST /": async (visit) => {
        const known = await visit.run(readScopes);
        const scopes = chosenScopes(visit, known);
        if (scopes.length === 0)
          return explorerForm(visit, known, scopes, { "access-heading": "Choose what to read or write." });
        const issued = await visit.run((client) => issue(client, visitorOf(visit), scopes));
        return wayOn(issued, explorerPathOf(head));
      },
    };
  },
};

/** The id of an administrator's token for the explorer: always the same, so that there is only one. */
function idOf({ id }: VisitingAdministrator): string {
  const hash = createHash("sha256").update(`explorer of ${id}`).digest("hex");
  // A UUID of version 8 (RFC 9562 §5.8)
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join("-");
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
  const secretHash = hashOfSecret(issued.clientSecret);
  // A form that is sent twice waits for itself
  await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [id]);
  const [present] = await readTokens(client, id);
  const call = (text: string, ...values: unknown[]) => valueOf(client, text, id, ...values);
  if (!present)
    await call("create_credential($1, $2, $3, $4, $5)", name, scopes, issued.clientId, secretHash);
  await call("limit_credential($1, make_interval(hours => $2))", hours);
  if (present) {
    await call("set_credential_active($1, true)");
    await call("change_credential($1, $2, $3)", name, scopes);
    const rotation = [present.clientId, issued.clientId, secretHash];
    if (!(await call("rotate_credential($1, $2, $3, $4, interval '0')", ...rotation)))
      throw new Error("The token for the explorer was rotated by somebody else meanwhile.");
  }
  return { id, ...issued };
}

function explorerForm(visit: Visit, known: string[], scopes: string[], errors: FieldErrors = {}): Page {
  return {
    title,
    errors,
    body: html`
      <p class="lead">
        Try operations of the API in the browser, with a token of your own that works for one hour. What it
        writes is real. Opening the explorer again ends the hour of before.
      </p>
      ${form(visit, { fields: accessFields(known, scopes), submit: "Open the explorer" })}
    `,
  };
}

/** Hands the credentials to the explorer: the script puts them where the explorer keeps them, and goes there. */
function wayOn({ clientId: id, clientSecret: secret }: ClientCredentials, path: string): Page {
  const credentials = JSON.stringify({ id, secret });
  return {
    title: "Opening the explorer",
    body: html`
      <div data-way-on="${path}" data-key="${credentialsKey}" data-value="${credentials}"></div>
      <p class="lead">The explorer needs JavaScript.</p>
    `,
  };
}
