import type { CredentialOverview } from "../../auth/credentials.ts";
import { timetable } from "../../versions/timetable.ts";
import type { VersionDates } from "../../versions/timetable.ts";
import { facts, html, section, table } from "../../html/html.ts";
import type { Html } from "../../html/html.ts";
import { copyable, count, day } from "../formats.ts";
import type { Section } from "../section.ts";
import { readCredentials } from "./tokens/token-rows.ts";
import { readUses, spanDays } from "./tokens/token-uses.ts";
import type { DailyUse } from "./tokens/token-uses.ts";

const states = {
  announced: { word: "Announced", badge: "" },
  served: { word: "Served", badge: "good" },
  deprecated: { word: "Deprecated", badge: "warning" },
  retired: { word: "Retired", badge: "bad" },
};

const kinds = {
  stable: "Stable: fields are only added, and it is served for twelve months after its release.",
  preview: "Preview: doesn’t change, and ends three months after the next stable version.",
  floating: "The newest state of development: changes without notice, and never ends.",
};

/** The page of versions: their dates, and the API credentials that use them. */
export const versionsSection: Section = {
  title: "Versions",
  path: "/versions",
  pages: ({ versions: all, now }) => ({
    "GET /": ({ run, origin }) =>
      run(async (client) => {
        const tokens = await readCredentials(client);
        const uses = await readUses(client);
        return {
          title: "Versions",
          body: html`
            <p class="lead">
              The versions of the API, when each of them ends, and which API credentials used them in the last
              ${spanDays} days. In the last three months of a version, every response warns of its end.
            </p>
            ${timetable(all, now()).map((version) => card(version, origin, listUsers(version, tokens, uses)))}
          `,
        };
      }),
  }),
};

function card(version: VersionDates, origin: string, users: VersionUser[]): Html {
  const { slug, state, kind, path, releasedOn, deprecatedOn, sunsetOn } = version;
  const date = (text: string | null) => text && day(new Date(text));
  return section(
    `version-${slug}`,
    slug,
    html`<p class="quiet">${kinds[kind]}</p>
      ${
        state === "deprecated" &&
        users.length > 0 &&
        html`<p class="notice warning">
          ${users.length === 1 ? "An API credential uses" : `${users.length} API credentials use`} this
          version. Move their clients to another version by ${date(sunsetOn)}.
        </p>`
      }
      ${facts([
        ["Released", date(releasedOn)],
        ["Deprecated from", date(deprecatedOn)],
        ["Ends on", date(sunsetOn)],
      ])}
      ${copyable("GraphQL endpoint", null, origin + path, `endpoint-${slug}`)} ${userTable(slug, users)}`,
    html`<span class="badge ${states[state].badge}">${states[state].word}</span>`,
  );
}

interface VersionUser {
  token: CredentialOverview;
  requests: number;
  lastDay: Date;
}

/** Returns the API credentials that used a version, most requests first. */
function listUsers({ slug }: VersionDates, tokens: CredentialOverview[], uses: DailyUse[]): VersionUser[] {
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

function userTable(slug: string, users: VersionUser[]): Html {
  if (users.length === 0)
    return html`<p class="quiet">No API credential used it in the last ${spanDays} days.</p>`;
  return table(
    `API credentials that use ${slug}`,
    ["API credential", "Last used on", { number: "Requests" }],
    users.map(({ token, requests, lastDay }) => [
      html`<a href="/admin/tokens/${token.id}">${token.name}</a>`,
      day(lastDay),
      count(requests),
    ]),
  );
}
