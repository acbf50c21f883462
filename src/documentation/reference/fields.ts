import type { GraphQLNamedType } from "postgraphile/graphql";
import { getNamedType, isInputObjectType } from "postgraphile/graphql";
import { facts, html } from "../../html/html.ts";
import type { Content, Html } from "../../html/html.ts";
import { codeBlock, renderDescription, renderSummary } from "../markdown.ts";
import { costText } from "../costs.ts";
import type { Topic } from "../edition.ts";
import type { Field, Model } from "../model.ts";
import { scopesOf } from "../model.ts";
import type { Page } from "../print-page.ts";
import { sampleOf } from "../sample-operation.ts";
import {
  codeLinks,
  deprecation,
  inputFieldsOf,
  inputs,
  joined,
  linkTo,
  scopeBadges,
  typeText,
} from "./links.ts";
import { eventLink } from "../events.ts";

/** Returns the section of a field: its signature, scopes, cost and arguments. */
export function fieldSection(model: Model, owner: string, field: Field): Html {
  const { name, type, args, description, deprecationReason } = field;
  const cost = costText(model, owner, field);
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
const ofMutation = /(?:^|\n\n)Scope: [^\n]*$/;
const codesAfter = (word: string, text: string): string[] =>
  new RegExp(`${word}: ([A-Z_, ]+)\\.`).exec(text)?.[1]?.split(", ") ?? [];

/** Returns the specific parts of the page of a query, mutation or subscription. */
export function rootFieldParts(model: Model, field: Field): Pick<Page, "headings" | "body"> {
  const { description, args, type, deprecationReason } = field;
  const isMutation = model.rootOf(field) === "mutations";
  const sample = sampleOf(model, field);
  const [scopeSentence = ""] = ofMutation.exec(description ?? "") ?? [];
  const written = model.writtenBy(field);
  const events = written.flatMap((each) => topicsOfWriter(model, field, each));
  const errors = codesAfter("User errors", scopeSentence);
  const warnings = codesAfter("Warnings", scopeSentence);
  return {
    headings: [
      { title: "Arguments", id: "arguments" },
      ...(isMutation ? [{ title: "Input", id: "input" }] : []),
      { title: "Result", id: "answer" },
      { title: "Example", id: "example" },
    ],
    body: html`
      ${deprecation(deprecationReason)}
      <div class="lead">${renderDescription(description?.replace(ofMutation, ""))}</div>
      ${facts([
        ["Scope", scopesOf(field).length > 0 ? scopeBadges(model, field) : "none"],
        ["Cost", renderSummary(costText(model, isMutation ? "Mutation" : "Query", field) ?? "1 point")],
        ["Writes", joined(written.map((each) => linkTo(model, each)))],
        ["Events", isMutation && joined(events.map(({ name }) => eventLink(name)))],
        ["User errors", errors.length > 0 && codeLinks(model, errors)],
        ["Warnings", warnings.length > 0 && codeLinks(model, warnings)],
      ])}
      <h2 id="arguments">Arguments</h2>
      ${args.length > 0 ? inputs(model, args) : html`<p>None.</p>`}
      ${isMutation && inputsOfMutation(model, field)}
      <h2 id="answer">Result</h2>
      <p><code class="signature">${typeText(model, type)}</code></p>
      ${answerFields(model, field)}
      <h2 id="example">Example</h2>
      <p>${sample.points === 1 ? "It costs one point." : html`It costs ${sample.points} points.`}</p>
      ${codeBlock(sample.query, "graphql")}
      ${Object.keys(sample.variables).length > 0 && codeBlock(JSON.stringify(sample.variables, null, 2), "json")}
    `,
  };
}

/** Returns topics about a type that a mutation writes, with `.deleted` only if its payload reports deletions. */
function topicsOfWriter(model: Model, { type }: Field, written: GraphQLNamedType): Topic[] {
  const payload = getNamedType(type);
  const deletes = "getFields" in payload && `deleted${written.name}Id` in payload.getFields();
  return model.topicsOf(written).filter(({ name }) => deletes || !name.endsWith(".deleted"));
}

function inputsOfMutation(model: Model, { args }: Field): Content {
  const input = args.map(({ type }) => getNamedType(type)).find(isInputObjectType);
  if (!input) return null;
  return html`<h2 id="input">Input</h2>
    <p>${linkTo(model, input)}</p>
    ${inputs(model, inputFieldsOf(input))}`;
}

function answerFields(model: Model, { type }: Field): Content {
  const answered = getNamedType(type);
  if (!("getFields" in answered) || model.kindOf(answered) !== "payloads") return null;
  const fields = Object.values(answered.getFields()) as Field[];
  return fields.map((field) => fieldSection(model, answered.name, field));
}
