import type { GraphQLNamedType } from "postgraphile/graphql";
import { getNamedType, isInputObjectType } from "postgraphile/graphql";
import { facts, html } from "../../html/html.ts";
import type { Content, Html } from "../../html/html.ts";
import { codeBlock, renderDescription, renderSummary } from "../markdown.ts";
import { describeCost } from "../costs.ts";
import type { Topic } from "../edition.ts";
import type { Field, Model } from "../model.ts";
import { listScopes } from "../model.ts";
import type { Page } from "../print-page.ts";
import { createSample } from "../sample-operation.ts";
import {
  codeLinks,
  deprecation,
  listInputFields,
  inputs,
  joinWithCommas,
  linkTo,
  scopeBadges,
  typeText,
} from "./links.ts";
import { eventLink } from "../events.ts";

/** Returns the section of a field: its signature, scopes, cost and arguments. */
export function fieldSection(model: Model, owner: string, field: Field): Html {
  const { name, type, args, description, deprecationReason } = field;
  const cost = describeCost(model, owner, field);
  return html`<section class="member" id="${name}">
    <h3>
      <a class="anchor" href="#${name}"
        ><code class="signature"><strong>${name}</strong></code></a
      ><code class="signature">: ${typeText(model, type)}</code>
    </h3>
    ${deprecation(deprecationReason)} ${renderDescription(description)}
    ${facts([
      ["Scope", scopeBadges(model, field)],
      ["Cost", cost && renderSummary(cost)],
    ])}
    ${
      args.length > 0 &&
      html`<details>
        <summary>${args.length} arguments</summary>
        ${inputs(model, args)}
      </details>`
    }
  </section>`;
}

/** Matches the last paragraph of a mutation's description, whose parts the page shows separately. */
const scopeParagraph = /(?:^|\n\n)Scope: [^\n]*$/;
const parseCodes = (word: string, text: string): string[] =>
  new RegExp(`${word}: ([A-Z_, ]+)\\.`).exec(text)?.[1]?.split(", ") ?? [];

/** Returns the specific parts of the page of a query, mutation or subscription. */
export function rootFieldParts(model: Model, field: Field): Pick<Page, "headings" | "body"> {
  const { description, args, type, deprecationReason } = field;
  const isMutation = model.rootOf(field) === "mutations";
  const sample = createSample(model, field);
  const [scopeSentence = ""] = scopeParagraph.exec(description ?? "") ?? [];
  const written = model.writtenBy(field);
  const events = written.flatMap((each) => listWrittenTopics(model, field, each));
  const errors = parseCodes("User errors", scopeSentence);
  const warnings = parseCodes("Warnings", scopeSentence);
  return {
    headings: [
      { title: "Arguments", id: "arguments" },
      ...(isMutation ? [{ title: "Input", id: "input" }] : []),
      { title: "Result", id: "answer" },
      { title: "Example", id: "example" },
    ],
    body: html`
      ${deprecation(deprecationReason)}
      <div class="lead">${renderDescription(description?.replace(scopeParagraph, ""))}</div>
      ${facts([
        ["Scope", listScopes(field).length > 0 ? scopeBadges(model, field) : "none"],
        ["Cost", renderSummary(describeCost(model, isMutation ? "Mutation" : "Query", field) ?? "1 point")],
        ["Writes", joinWithCommas(written.map((each) => linkTo(model, each)))],
        ["Events", isMutation && joinWithCommas(events.map(({ name }) => eventLink(name)))],
        ["User errors", errors.length > 0 && codeLinks(model, errors)],
        ["Warnings", warnings.length > 0 && codeLinks(model, warnings)],
      ])}
      <h2 id="arguments">Arguments</h2>
      ${args.length > 0 ? inputs(model, args) : html`<p>None.</p>`}
      ${isMutation && inputsOfMutation(model, field)}
      <h2 id="answer">Result</h2>
      <p><code class="signature">${typeText(model, type)}</code></p>
      ${payloadFields(model, field)}
      <h2 id="example">Example</h2>
      <p>${sample.points === 1 ? "It costs one point." : html`It costs ${sample.points} points.`}</p>
      ${codeBlock(sample.query, "graphql")}
      ${Object.keys(sample.variables).length > 0 && codeBlock(JSON.stringify(sample.variables, null, 2), "json")}
    `,
  };
}

/** Returns topics about a type that a mutation writes, with `.deleted` only if its payload reports deletions. */
function listWrittenTopics(model: Model, { type }: Field, written: GraphQLNamedType): Topic[] {
  const payload = getNamedType(type);
  const deletes = "getFields" in payload && `deleted${written.name}Id` in payload.getFields();
  return model.topicsOf(written).filter(({ name }) => deletes || !name.endsWith(".deleted"));
}

function inputsOfMutation(model: Model, { args }: Field): Content {
  const input = args.map(({ type }) => getNamedType(type)).find(isInputObjectType);
  if (!input) return null;
  return html`<h2 id="input">Input</h2>
    <p>${linkTo(model, input)}</p>
    ${inputs(model, listInputFields(input))}`;
}

function payloadFields(model: Model, { type }: Field): Content {
  const answered = getNamedType(type);
  if (!("getFields" in answered) || model.kindOf(answered) !== "payloads") return null;
  const fields = Object.values(answered.getFields()) as Field[];
  return fields.map((field) => fieldSection(model, answered.name, field));
}
