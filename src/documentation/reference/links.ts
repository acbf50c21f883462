import type {
  GraphQLArgument,
  GraphQLInputField,
  GraphQLInputObjectType,
  GraphQLNamedType,
  GraphQLType,
} from "postgraphile/graphql";
import { astFromValue, isListType, isNonNullType, isSpecifiedScalarType, print } from "postgraphile/graphql";
import type { WithScopes } from "../../graphql/scopes.ts";
import { definitions, html } from "../../html/html.ts";
import type { Content, Html } from "../../html/html.ts";
import { renderDescription, renderSummary } from "../markdown.ts";
import type { Member, Model, Use } from "../model.ts";
import { isField, getKindName, listScopes, sortByName } from "../model.ts";
import { kindPath, versionPath } from "../print-page.ts";

/** Returns the path of the page of a type or root field. */
export function getMemberPath(model: Model, member: Member): string {
  const { slug } = model.edition;
  const folder = isField(member) ? kindPath(slug, model.rootOf(member)) : `${versionPath(slug)}/types`;
  return `${folder}/${member.name}`;
}

export const linkTo = (model: Model, member: Member): Html =>
  html`<a href="${getMemberPath(model, member)}"
    >${isField(member) ? html`<code>${member.name}</code>` : member.name}</a
  >`;

/** Returns a type as in SDL, with a link to its page. */
export function typeText(model: Model, type: GraphQLType): Html {
  if (isNonNullType(type)) return html`${typeText(model, type.ofType as GraphQLType)}!`;
  if (isListType(type)) return html`[${typeText(model, type.ofType)}]`;
  const named = type as GraphQLNamedType;
  return isSpecifiedScalarType(named) ? html`${named.name}` : linkTo(model, named);
}

/** Returns a link to the field of a use. */
export function useLink(model: Model, { type, field }: Use): Html {
  const rootField = model.rootFields.find(
    (each) => each.name === field && getKindName(model.rootOf(each)) === type,
  );
  if (rootField) return linkTo(model, rootField);
  return html`<a href="${versionPath(model.edition.slug)}/types/${type}#${field}"
    ><code>${type}.<wbr />${field}</code></a
  >`;
}

/** Returns badges of a field's scopes. One of several is enough if they are joined by “or”. */
export function scopeBadges(model: Model, field: WithScopes): Content {
  const scopes = listScopes(field);
  const isAny = (field.extensions.requiresScopes?.anyOf?.length ?? 0) > 1;
  return scopes.map(
    (scope, index) =>
      html`${index > 0 && html`<span class="quiet">${isAny ? " or " : " and "}</span>`}${scopeBadge(model, scope)}`,
  );
}

export const scopeBadge = (model: Model, scope: string): Html =>
  html`<a class="badge scope" href="${versionPath(model.edition.slug)}/scopes#${scope}">${scope}</a>`;

export const deprecation = (reason: string | null | undefined): Content =>
  reason != null && html`<p class="notice warning"><strong>Deprecated.</strong> ${renderSummary(reason)}</p>`;

/** Returns codes of user errors or warnings, with links to their descriptions. */
export function codeLinks(model: Model, codes: readonly string[]): Html {
  return html`<ul class="codes">
    ${codes.map((code) => {
      const type = model.types.find(
        (each) => "getValue" in each && /^(UserError|Warning)Code$/.test(each.name) && each.getValue(code),
      );
      return html`<li>
        ${type ? html`<a href="${getMemberPath(model, type)}#${code}"><code>${code}</code></a>` : html`<code>${code}</code>`}
      </li>`;
    })}
  </ul>`;
}

export const listInputFields = (type: GraphQLInputObjectType) => sortByName(Object.values(type.getFields()));

/** Returns a list of arguments or input fields, each with its type, default and description. */
export const inputs = (
  model: Model,
  fields: readonly (GraphQLArgument | GraphQLInputField)[],
  isLinked = false,
  about: (field: GraphQLArgument | GraphQLInputField) => Content = () => null,
): Html =>
  definitions(
    fields.map((field) => {
      const { name, type, description, defaultValue, deprecationReason, extensions } = field;
      const isRequired = isNonNullType(type) && defaultValue === undefined;
      const preset =
        defaultValue !== undefined &&
        html`<span class="quiet"> = ${print(astFromValue(defaultValue, type)!)}</span>`;
      return {
        id: isLinked && name,
        term: html`<code class="signature"><strong>${name}</strong>: ${typeText(model, type)}${preset}</code>
          ${isRequired && html`<span class="badge">required</span>`}
          ${scopeBadges(model, { extensions: extensions as WithScopes["extensions"] })}`,
        meaning: html`${deprecation(deprecationReason)} ${renderDescription(description)} ${about(field)}`,
      };
    }),
  );

/** Returns pieces with commas between them. */
export const joinWithCommas = (pieces: readonly Html[]): Content[] =>
  pieces.map((piece, index) => html`${index > 0 && ", "}${piece}`);
