import { Router } from "express";
import type { CredentialOverview } from "../../auth/credentials.ts";
import { timetable } from "../../versions/timetable.ts";
import type { VersionDates } from "../../versions/timetable.ts";
import { copyable } from "../copyable.ts";
import { count, day } from "../format.ts";
import { html } from "../html.ts";
import type { Content, Html } from "../html.ts";
import type { Section } from "../section.ts";
import { showPage } from "../page.ts";
import { readUses, spanDays } from "../uses.ts";
import type { Use } from "../uses.ts";
import { visitOf } from "../visit.ts";
import { readTokens } from "./tokens/tokens.ts";

const states = {
  announced: { word: "Announced", badge: "" },
  served: { word: "Served", badge: "on" },
  deprecated: { word: "Deprecated", badge: "warning" },
  retired: { word: "Retired", badge: "off" },
};

const kinds = {
  stable: "Stable: only grows, and is served for twelve months after its release.",
  preview: "Preview: stays as it is, and ends three months after the next stable version.",
  floating: "The newest state of development: changes without notice, and never ends.",
};

/** Versions of the API, their ends, and the tokens that use them. */
export const versionsSection: Section = {
  title: "Versions",
  path: "/versions",
  pages({ versions: all, now }) {
    const router = Router();
    router.get("/", async (_request, response) => {
      const { run, origin } = visitOf(response);
      const { tokens, uses } = await run(async (client) => ({
        tokens: await readTokens(client),
        uses: await readUses(client),
      }));
      showPage(response, {
        title: "Versions",
        body: html`
          <p class="lead">
            The versions of the API, until when they are served, and which tokens used them in the last
            ${spanDays} days. In its last three months every answer of a version warns of its end.
          </p>
          ${timetable(all, now()).map((version) => card(version, origin, usersOf(version, tokens, uses)))}
        `,
      });
    });
    return router;
  },
};

function card(version: VersionDates, origin: string, users: User[]): Html {
  const { slug, state, kind, path, releasedOn, deprecatedOn, sunsetOn } = version;
  const id = `version-${slug}`;
  const dates = [
    fact("Released", releasedOn),
    fact("Deprecated from", deprecatedOn),
    fact("Ends on", sunsetOn),
  ];
  const isEnding = state === "deprecated" && users.length > 0;
  return html`<section class="card" aria-labelledby="${id}">
    <div class="bar">
      <h2 id="${id}">${slug}</h2>
      <span class="badge ${states[state].badge}">${states[state].word}</span>
    </div>
    <p class="quiet">${kinds[kind]}</p>
    ${
      isEnding &&
      html`<p class="notice warning">
        ${users.length === 1 ? "A token uses" : `${users.length} tokens use`} this version. Their clients must
        change to another one by ${day(new Date(sunsetOn!))}.
      </p>`
    }
    ${dates.some(Boolean) && html`<dl class="facts columns">${dates}</dl>`}
    ${copyable("GraphQL endpoint", null, origin + path, `endpoint-${slug}`)} ${userTable(slug, users)}
  </section>`;
}

function fact(title: string, date: string | null): Content {
  return (
    date !== null &&
    html`<div>
      <dt>${title}</dt>
      <dd>${day(new Date(date))}</dd>
    </div>`
  );
}

interface User {
  token: CredentialOverview;
  requests: number;
  lastDay: Date;
}

/** The tokens that used a version, most requests first. */
function usersOf({ slug }: VersionDates, tokens: CredentialOverview[], uses: Use[]): User[] {
  return tokens
    .flatMap((token) => {
      const own = uses.filter(
        (use) => use.credential_id === token.id && use.version === slug && use.deprecated_field === "",
      );
      if (own.length === 0) return [];
      const requests = own.reduce((sum, use) => sum + use.requests, 0);
      return [{ token, requests, lastDay: own[0]!.day }]; // newest first
    })
    .sort((a, b) => b.requests - a.requests);
}

function userTable(slug: string, users: User[]): Html {
  if (users.length === 0) return html`<p class="quiet">No token used it in the last ${spanDays} days.</p>`;
  return html`<div class="wide" role="region" aria-label="Tokens that use ${slug}" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Token</th>
          <th scope="col">Last used on</th>
          <th scope="col" class="number">Requests</th>
        </tr>
      </thead>
      <tbody>
        ${users.map(
          ({ token, requests, lastDay }) =>
            html`<tr>
              <th scope="row"><a href="/admin/tokens/${token.id}">${token.name}</a></th>
              <td>${day(lastDay)}</td>
              <td class="number">${count(requests)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
