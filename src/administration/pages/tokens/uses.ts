import { count, day } from "../../format.ts";
import { html } from "../../html.ts";
import type { Html } from "../../html.ts";
import { spanDays } from "../../uses.ts";
import type { Use } from "../../uses.ts";

/** Requests by day and version, and the deprecated fields among them. */
export function usesTables(uses: readonly Use[]): Html {
  const requests = uses.filter(({ deprecated_field: field }) => field === "");
  if (requests.length === 0) return html`<p class="quiet">No requests in the last ${spanDays} days.</p>`;
  return html`${byDay(requests)} ${deprecated(uses.filter(({ deprecated_field: field }) => field !== ""))}`;
}

function byDay(uses: readonly Use[]): Html {
  const versions = [...new Set(uses.map(({ version }) => version))].sort();
  const days = [...new Set(uses.map(({ day }) => day.getTime()))];
  const on = (time: number, version: string) =>
    uses.find((use) => use.day.getTime() === time && use.version === version)?.requests ?? 0;
  return html`<div class="wide" role="region" aria-label="Requests by day" tabindex="0">
    <table>
      <caption>
        Requests in the last ${spanDays} days, by UTC
      </caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          ${versions.map((version) => html`<th scope="col" class="number">${version}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${days.map(
          (time) =>
            html`<tr>
              <th scope="row">${day(new Date(time))}</th>
              ${versions.map((version) => html`<td class="number">${count(on(time, version))}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function deprecated(uses: readonly Use[]): Html {
  const last = new Map<string, Use>();
  for (const use of uses) {
    const key = `${use.version} ${use.deprecated_field}`;
    if (!last.has(key)) last.set(key, use); // newest first
  }
  if (last.size === 0) return html`<p class="quiet">It used no deprecated fields.</p>`;
  return html`<h3>Deprecated fields that it used</h3>
    <ul>
      ${[...last.values()].map(
        (use) =>
          html`<li><code>${use.deprecated_field}</code> in ${use.version}, last on ${day(use.day)}</li>`,
      )}
    </ul>`;
}
