import { html } from "../../../html/html.ts";
import type { Html } from "../../../html/html.ts";
import { count, foreignBlock, moment, shown } from "../../formats.ts";

type Headers = Record<string, string | string[]>;

/** An attempt, as administration.webhook_attempts returns it. */
export interface AttemptRow {
  number: number;
  at: Date;
  duration_ms: number | null;
  status: number | null;
  error: string | null;
  request_headers: Headers;
  response_headers: Headers | null;
  response_body: string | null;
}

/** Attempts of a delivery, newest first, with request and answer. The newest is expanded. */
export function attemptList(attempts: readonly AttemptRow[], total: number): Html {
  if (attempts.length === 0) return html`<p class="quiet">There was no attempt yet.</p>`;
  return html`<ol class="index">
      ${attempts.map((attempt, index) => html`<li>${details(attempt, index === 0)}</li>`)}
    </ol>
    ${total > attempts.length && html`<p class="quiet">The last of ${count(total)} attempts are shown.</p>`}`;
}

function details(attempt: AttemptRow, isOpen: boolean): Html {
  const { number, at, duration_ms, status, error } = attempt;
  const isWell = error === null;
  return html`<details ${isOpen && "open"}>
    <summary>
      <span class="badge ${isWell ? "good" : "bad"}">${status ?? "No answer"}</span>
      Attempt ${number},
      <span class="quiet">${moment(at)}${duration_ms !== null && ` in ${count(duration_ms)} ms`}</span>
    </summary>
    ${!isWell && html`<p>${shown(error, 1000)}</p>`}
    ${part(`Request headers of attempt ${number}`, "Request headers", headersText(attempt.request_headers))}
    <p class="quiet">The signature is not kept.</p>
    ${attempt.response_headers !== null && part(`Answer headers of attempt ${number}`, "Headers of the answer", headersText(attempt.response_headers))}
    ${attempt.response_body !== null && part(`Answer of attempt ${number}`, "Beginning of the answer", attempt.response_body)}
  </details>`;
}

function part(label: string, title: string, text: string): Html {
  return html`<h3>${title}</h3>
    ${text === "" ? html`<p class="quiet">Empty</p>` : foreignBlock(label, text, 10_000)}`;
}

/** Headers, one a line, cut. A line break in a value would look like another header. */
function headersText(headers: Headers): string {
  return Object.entries(headers)
    .flatMap(([name, values]) =>
      [values]
        .flat()
        .map((value) => `${shown(name, 100)}: ${shown(String(value), 500)}`.replaceAll("\n", "␊")),
    )
    .join("\n");
}
