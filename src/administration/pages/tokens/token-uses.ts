import type { PoolClient } from "pg";
import { html, table } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { count, day } from "../../formats.ts";

/** Days that statistics cover. */
export const spanDays = 30;

/** The number of requests of an API credential to a version on a day. */
export interface DailyUse {
  credential_id: string;
  day: Date;
  version: string;
  /** `Type.field`, or empty for all requests of the version. */
  deprecated_field: string;
  requests: number;
}

/** Reads the use of one API credential, or of all, in the last days. Newest day first. */
export async function readUses(client: PoolClient, id: string | null = null): Promise<DailyUse[]> {
  const { rows } = await client.query<DailyUse>(
    `select credential_id, day::timestamptz, version, deprecated_field, requests::float8
     from administration.credential_uses(current_date - $2::integer, $1)`,
    [id, spanDays - 1],
  );
  return rows;
}

/** Tables of requests by day and version, and of the deprecated fields that were used. */
export function usesTables(uses: readonly DailyUse[]): Html {
  const requests = uses.filter(({ deprecated_field: field }) => field === "");
  if (requests.length === 0) return html`<p class="quiet">No requests in the last ${spanDays} days.</p>`;
  return html`${dailyTable(requests)}
  ${deprecatedFieldList(uses.filter(({ deprecated_field: field }) => field !== ""))}`;
}

function dailyTable(uses: readonly DailyUse[]): Html {
  const versions = [...new Set(uses.map(({ version }) => version))].sort();
  const days = [...new Set(uses.map(({ day }) => day.getTime()))];
  const on = (time: number, version: string) =>
    uses.find((use) => use.day.getTime() === time && use.version === version)?.requests ?? 0;
  return table(
    "Requests by day",
    ["Day", ...versions.map((number) => ({ number }))],
    days.map((time) => [day(new Date(time)), ...versions.map((version) => count(on(time, version)))]),
    `Requests in the last ${spanDays} days, by UTC`,
  );
}

function deprecatedFieldList(uses: readonly DailyUse[]): Html {
  const last = new Map<string, DailyUse>();
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
