import type { PoolClient } from "pg";
import { resolveScopes } from "../../../auth/credentials.ts";
import { facts, html } from "../../../html/html.ts";
import type { Content, Html } from "../../../html/html.ts";
import { textField } from "../../forms.ts";
import type { FieldErrors } from "../../forms.ts";
import { resourceName } from "../../formats.ts";
import { callForRows } from "../../visit.ts";
import type { Visit } from "../../visit.ts";

/** An API credential's access to a resource. Writing includes reading. */
export type Level = "none" | "read" | "write";

const levels = { none: "None", read: "Read", write: "Write" } as const;

const resourceOf = (scope: string) => scope.split(":")[0]!;

/** Reads all existing scopes. */
export async function readScopes(client: PoolClient): Promise<string[]> {
  const rows = await callForRows<{ scope: string }>(client, "known_scopes() as scope");
  return rows.map(({ scope }) => scope);
}

/** Returns the levels of access that a resource has: writing only if a mutation writes it. */
const availableLevels = (known: readonly string[], resource: string) =>
  (["none", "read", "write"] as const).filter(
    (level) => level !== "write" || known.includes(`${resource}:write`),
  );

/** Returns the resources of scopes, in order. */
function listResources(scopes: readonly string[]): string[] {
  return [...new Set(scopes.map(resourceOf))];
}

/** Returns the access to a resource that scopes give. */
function grantedLevel(scopes: readonly string[], resource: string): Level {
  if (scopes.includes(`${resource}:write`)) return "write";
  return scopes.includes(`${resource}:read`) ? "read" : "none";
}

/** Returns the scopes that were chosen in a form. */
export function chosenScopes(visit: Visit, known: string[]): string[] {
  const chosen = (level: Level) =>
    listResources(known).filter(
      (resource) =>
        availableLevels(known, resource).includes(level) && textField(visit, `access.${resource}`) === level,
    );
  return resolveScopes(known, chosen("read"), chosen("write"));
}

/** Checks the access of a new API credential. An empty choice must be confirmed. */
export function accessErrors(visit: Visit, scopes: readonly string[]): FieldErrors {
  if (scopes.length > 0 || textField(visit, "noAccess") === "wanted") return {};
  return { access: "Choose what the credential may read or write, or confirm that it gets no access." };
}

/** The checkbox that confirms that a new API credential gets no access. */
export function noAccessOption(error: string): Html {
  return html`<div id="access" class="field wrong">
    <p class="error" id="access-error">${error}</p>
    <label class="option">
      <input type="checkbox" name="noAccess" value="wanted" aria-describedby="access-error" />
      <span><strong>Create it without access</strong></span>
    </label>
  </div>`;
}

/** Summarizes the access that scopes give. */
export function accessSummary(scopes: readonly string[]): string {
  const written = scopes.filter((scope) => scope.endsWith(":write")).length;
  const read = scopes.length - 2 * written;
  const resources = (number: number) => (number === 1 ? "1 resource" : `${number} resources`);
  if (written === 0) return read === 0 ? "No access" : `Reads ${resources(read)}`;
  return `Writes ${resources(written)}${read > 0 ? `, reads ${read} more` : ""}`;
}

/** Lists the access that scopes give. */
export function accessFacts(scopes: readonly string[], known: readonly string[]): Content {
  const resources = listResources([...known, ...scopes]);
  const named = (level: Level) =>
    resources
      .filter((resource) => grantedLevel(scopes, resource) === level)
      .map(resourceName)
      .join(", ");
  return facts([
    ["Read and write", named("write")],
    ["Read", named("read")],
    ["No access", named("none")],
  ]);
}

/** The choice of a level for each resource. The script shows the buttons that set all of them. */
export function accessFields(known: readonly string[], scopes: readonly string[]): Html {
  const present = scopes.filter((scope) => known.includes(scope));
  return html`<section aria-labelledby="access-heading">
    <h2 id="access-heading">Access</h2>
    <p class="quiet">
      Give only the access that the client needs; you can change it later. Write includes read.
    </p>
    <div class="actions" hidden>
      <span id="all-label">Set all to</span>
      ${Object.entries(levels).map(
        ([level, label]) =>
          html`<button type="button" class="plain" data-level="${level}" aria-describedby="all-label">
            ${label}
          </button>`,
      )}
    </div>
    ${listResources(known).map(
      (resource) =>
        html`<div class="resource" role="group" aria-labelledby="name-${resource}">
          <span id="name-${resource}">${resourceName(resource)}</span>
          ${availableLevels(known, resource).map(
            (level) =>
              html`<label class="option"
                ><input
                  type="radio"
                  name="access.${resource}"
                  value="${level}"
                  ${level === grantedLevel(present, resource) && "checked"}
                /><span>${levels[level]}</span></label
              >`,
          )}
        </div>`,
    )}
  </section>`;
}
