import { createHash } from "node:crypto";
import type { PoolClient } from "pg";
import { createClientCredentials } from "../../auth/credentials.ts";
import { hashSecret } from "../../lib/hash-secret.ts";
import type { ClientCredentials } from "../../auth/credentials.ts";
import { credentialsKey, explorerPathOf } from "../../versions/explorer-page.ts";
import { html } from "../../html/html.ts";
import { form } from "../forms.ts";
import type { FieldErrors } from "../forms.ts";
import type { Section } from "../section.ts";
import type { Page } from "../show-page.ts";
import { callForValue, getVisitor } from "../visit.ts";
import type { Visit, VisitingAdministrator } from "../visit.ts";
import { accessFields, chosenScopes, readScopes } from "./tokens/token-access.ts";
import { readCredentials } from "./tokens/token-rows.ts";

/** Lifetime of the explorer's API credential, in hours. */
const hours = 1;

const title = "Explorer";

/** Opens the explorer with the administrator's own API credential, which expires after an hour. */
export const explorerSection: Section = {
  title,
  path: "/explorer",
  pages({ versions }) {
    const head = versions.find(({ kind }) => kind === "floating") ?? versions[0]!;
    return {
      "GET /": (visit) =>
        visit.run(async (client) => {
          const known = await readScopes(client);
          const [own] = await readCredentials(client, explorerCredentialId(getVisitor(visit)));
          const scopes = own?.scopes ?? known.filter((scope) => scope.endsWith(":read"));
          return explorerForm(visit, known, scopes);
        }),
      "POST /": async (visit) => {
        const known = await visit.run(readScopes);
        const scopes = chosenScopes(visit, known);
        if (scopes.length === 0)
          return explorerForm(visit, known, scopes, { "access-heading": "Choose what to read or write." });
        const issued = await visit.run((client) => issueCredential(client, getVisitor(visit), scopes));
        return handOverPage(issued, explorerPathOf(head));
      },
    };
  },
};

/** Computes the id of an administrator's API credential for the explorer. It never changes, so there is only one. */
function explorerCredentialId({ id }: VisitingAdministrator): string {
  const hash = createHash("sha256").update(`explorer of ${id}`).digest("hex");
  // A UUID of version 8 (RFC 9562 §5.8)
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return [...parts, hash.slice(20, 32)].join("-");
}

/** Gives the administrator's API credential these scopes, a new client ID and secret, and an hour. The old ones stop. */
async function issueCredential(
  client: PoolClient,
  visitor: VisitingAdministrator,
  scopes: string[],
): Promise<ClientCredentials> {
  const id = explorerCredentialId(visitor);
  const name = [...`Explorer of ${visitor.name}`].slice(0, 100).join("");
  const issued = createClientCredentials();
  const secretHash = hashSecret(issued.clientSecret);
  // If a form is sent twice, the second one waits
  await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [id]);
  const [present] = await readCredentials(client, id);
  const call = (text: string, ...values: unknown[]) => callForValue(client, text, id, ...values);
  if (!present)
    await call("create_credential($1, $2, $3, $4, $5)", name, scopes, issued.clientId, secretHash);
  await call("limit_credential($1, make_interval(hours => $2))", hours);
  if (present) {
    await call("set_credential_active($1, true)");
    await call("change_credential($1, $2, $3)", name, scopes);
    const rotation = [present.clientId, issued.clientId, secretHash];
    if (!(await call("rotate_credential($1, $2, $3, $4, interval '0')", ...rotation)))
      throw new Error("Somebody else has just rotated the explorer’s API credential.");
  }
  return { id, ...issued };
}

function explorerForm(visit: Visit, known: string[], scopes: string[], errors: FieldErrors = {}): Page {
  return {
    title,
    errors,
    body: html`
      <p class="lead">
        Try operations of the API in the browser, with an API credential of your own that works for one hour.
        Mutations change real data. Opening the explorer again replaces the client ID and secret.
      </p>
      ${form(visit, { fields: accessFields(known, scopes), submit: "Open the explorer" })}
    `,
  };
}

/** Hands the client ID and secret to the explorer: the script stores them for it and goes there. */
function handOverPage({ clientId: id, clientSecret: secret }: ClientCredentials, path: string): Page {
  const credentials = JSON.stringify({ id, secret });
  return {
    title: "Opening the explorer",
    body: html`
      <div data-redirect="${path}" data-key="${credentialsKey}" data-value="${credentials}"></div>
      <p class="lead">The explorer needs JavaScript.</p>
    `,
  };
}
