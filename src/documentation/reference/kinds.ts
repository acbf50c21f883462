import { definitions, html, linkList } from "../../html/html.ts";
import type { Content } from "../../html/html.ts";
import { renderSummary } from "../markdown.ts";
import type { Field, Kind, Model } from "../model.ts";
import { listFields, isField, kinds, listScopes } from "../model.ts";
import type { Page, Site } from "../print-page.ts";
import { kindPath, versionPath } from "../print-page.ts";
import { linkTo, getMemberPath, scopeBadges } from "./links.ts";

const kindDescriptions: Record<Kind, string> = {
  queries: "Operations that read data.",
  mutations: "Operations that change data. Each takes an input and returns a payload with user errors.",
  subscriptions: "Operations that send results over an open connection when data changes.",
  objects: "Types that queries and mutations return.",
  lists: "Connections and edges: the pages of a list, and their entries.",
  aggregates: "Counts, sums and averages of lists.",
  payloads: "Results of mutations.",
  inputs: "Arguments of mutations.",
  filters: "Conditions on the entries of lists.",
  enums: "Types with a fixed set of values.",
  scalars: "Single values.",
};

/** Returns the page that lists all members of a kind. */
export function kindPage(model: Model, kind: Kind): Page {
  return {
    title: kinds[kind],
    kind: "Reference",
    version: model.edition.slug,
    body: html`<p class="lead">${kindDescriptions[kind]}</p>
      ${linkList(
        model
          .ofKind(kind)
          .map((each) => [
            linkTo(model, each),
            renderSummary(each.description),
            isField(each) && scopeBadges(model, each),
          ]),
      )}`,
  };
}

/** Returns the page of a version, with its endpoint and its contents. */
export function versionPage(site: Site, model: Model): Page {
  const { slug } = model.edition;
  const version = site.versions.find((each) => each.slug === slug)!;
  return {
    title: slug,
    kind: "Version",
    version: slug,
    summary: `Reference of the version ${slug} of the API.`,
    body: html`
      <p class="lead">${describeLifetime(version)}</p>
      <p class="actions">
        <a class="button" href="${version.path}/schema.graphql">Schema (SDL)</a>
        <a
          class="button"
          href="${versionPath(slug)}/collection.json"
          download="${slug}.postman_collection.json"
          >Collection for Bruno and Postman</a
        >
        ${site.explorer && html`<a class="button" href="/explorer/${slug}">Explorer</a>`}
      </p>
      <p>
        The endpoint is <code>POST ${version.path}</code>, with an access token. You can also send queries by
        GET.
      </p>
      <ul class="cards">
        ${model.kinds.map(
          (kind) =>
            html`<li>
              <a class="card" href="${kindPath(slug, kind)}"
                ><strong>${kinds[kind]}</strong> <span class="quiet">${model.ofKind(kind).length}</span
                ><span class="about">${kindDescriptions[kind]}</span></a
              >
            </li>`,
        )}
      </ul>
      ${deprecated(model)}
    `,
  };
}

const describeLifetime = ({ kind, releasedOn, sunsetOn }: Site["versions"][number]): string => {
  if (kind === "floating") return "The newest state. It changes without notice; use it to try new features.";
  const until = sunsetOn === null ? "" : `, and served until ${sunsetOn}`;
  const promise = kind === "stable" ? "It only grows." : "It doesn't change.";
  return `Released on ${releasedOn}${until}. ${promise}`;
};

function deprecated(model: Model): Content {
  const ofRoots = model.rootFields.map((field) => ({
    ...field,
    title: field.name,
    path: getMemberPath(model, field),
  }));
  const ofTypes = model.types.flatMap((type) => {
    const path = getMemberPath(model, type);
    return listFields(type).map((field) => ({
      ...field,
      title: `${type.name}.${field.name}`,
      path: `${path}#${field.name}`,
    }));
  });
  const found = [...ofRoots, ...ofTypes].filter(({ deprecationReason }) => deprecationReason != null);
  if (found.length === 0) return null;
  return html`<h2>Deprecated</h2>
    ${linkList(
      found.map(({ title, path, deprecationReason }) => [
        html`<a href="${path}"><code>${title}</code></a>`,
        renderSummary(deprecationReason),
      ]),
    )}`;
}

/** Returns the page of all scopes, with the fields that need each. */
export function scopesPage(model: Model): Page {
  const opened = new Map<string, Field[]>();
  for (const field of model.rootFields)
    for (const scope of listScopes(field)) opened.set(scope, [...(opened.get(scope) ?? []), field]);
  const scopes = [...opened.keys()].sort();
  return {
    title: "Scopes",
    kind: "Reference",
    version: model.edition.slug,
    body: html`<p class="lead">
        The rights of an API credential. An operation is refused as a whole if the scope of any field is
        missing; the error lists the missing scopes. A write scope includes reading.
      </p>
      ${definitions(
        scopes.map((scope) => ({
          id: scope,
          term: html`<span class="badge scope">${scope}</span>`,
          meaning: html`<ul class="codes">
            ${opened.get(scope)!.map((field) => html`<li>${linkTo(model, field)}</li>`)}
          </ul>`,
        })),
      )}`,
  };
}
