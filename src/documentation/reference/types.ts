import type { GraphQLEnumType, GraphQLInputFieldExtensions, GraphQLNamedType } from "postgraphile/graphql";
import {
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isScalarType,
} from "postgraphile/graphql";
import { definitions, facts, html } from "../../html/html.ts";
import type { Content } from "../../html/html.ts";
import type { Condition } from "../costs.ts";
import { describeConditionCost } from "../costs.ts";
import { eventLink } from "../events.ts";
import { renderDescription } from "../markdown.ts";
import type { Field, Model } from "../model.ts";
import { getEntryType, listFields, sortByName } from "../model.ts";
import type { Page } from "../print-page.ts";
import { fieldSection } from "./fields.ts";
import { deprecation, listInputFields, inputs, joinWithCommas, linkTo, useLink } from "./links.ts";

/** The most uses that are listed without folding. */
const shownUses = 12;

/** Returns the specific parts of the page of a type. */
export function typeParts(model: Model, type: GraphQLNamedType): Pick<Page, "headings" | "body"> {
  const filter = model.filterOf(type);
  const entry = getEntryType(type);
  return {
    headings: listMemberNames(type).map((name) => ({ title: name, id: name })),
    body: html`
      <div class="lead">${renderDescription(type.description)}</div>
      ${facts([
        ["Entries", entry && linkTo(model, entry)],
        ["Read by", joinWithCommas(model.readersOf(type).map((field) => linkTo(model, field)))],
        ["Written by", joinWithCommas(model.writersOf(type).map((field) => linkTo(model, field)))],
        ["Events", joinWithCommas(model.topicsOf(type).map(({ name }) => eventLink(name)))],
        ["Filter", filter && linkTo(model, filter)],
        [
          "Interfaces",
          isObjectType(type) && joinWithCommas(type.getInterfaces().map((each) => linkTo(model, each))),
        ],
        ["Implemented by", isInterfaceType(type) && joinWithCommas(implementations(model, type))],
        ["Specified by", isScalarType(type) && specification(type.specifiedByURL)],
      ])}
      ${members(model, type)} ${uses(model, type)}
    `,
  };
}

const specification = (url: string | null | undefined): Content => url && html`<a href="${url}">${url}</a>`;

const implementations = (model: Model, type: GraphQLNamedType) =>
  isInterfaceType(type)
    ? sortByName(model.schema.getPossibleTypes(type)).map((each) => linkTo(model, each))
    : [];

const listMemberNames = (type: GraphQLNamedType): string[] =>
  (isEnumType(type) ? type.getValues() : listFields(type)).map(({ name }) => name);

function members(model: Model, type: GraphQLNamedType): Content {
  if (isEnumType(type))
    return html`<h2>Values</h2>
      ${values(type)}`;
  if (isInputObjectType(type))
    return html`<h2>Fields</h2>
      ${inputs(model, listInputFields(type), true, model.kindOf(type) === "filters" ? aboutFilter : undefined)}`;
  if (!isObjectType(type) && !isInterfaceType(type)) return null;
  const fields = sortByName(Object.values(type.getFields())) as Field[];
  return html`<h2>Fields</h2>
    ${fields.map((field) => fieldSection(model, type.name, field))}`;
}

/** Returns the indexes that a condition can use, and its cost. */
function aboutFilter(field: Condition): Content {
  const { indexes } = field.extensions as Pick<GraphQLInputFieldExtensions, "indexes">;
  const named = (fields: readonly string[]) => html`<code>${fields.join(", ")}</code>`;
  const found =
    indexes?.length === 0 ? "none: every row is compared" : indexes && joinWithCommas(indexes.map(named));
  const cost = describeConditionCost(field);
  return facts([
    ["Index", found ?? null],
    ["Cost", cost],
  ]);
}

const values = (type: GraphQLEnumType): Content =>
  definitions(
    type.getValues().map(({ name, description, deprecationReason }) => ({
      id: name,
      term: html`<code class="signature"><strong>${name}</strong></code>`,
      meaning: html`${deprecation(deprecationReason)} ${renderDescription(description)}`,
    })),
  );

function uses(model: Model, type: GraphQLNamedType): Content {
  const found = model.usesOf(type).map((use) => html`<li>${useLink(model, use)}</li>`);
  if (found.length === 0) return null;
  const list = html`<ul class="codes">
    ${found}
  </ul>`;
  return html`<h2 id="used-by">Used by</h2>
    ${
      found.length > shownUses
        ? html`<details>
            <summary>${found.length} fields and arguments</summary>
            ${list}
          </details>`
        : list
    }`;
}
