import { definitions, html, linkList } from "../html/html.ts";
import type { Html } from "../html/html.ts";
import type { Topic, TopicSchema } from "./edition.ts";
import { codeBlock, renderDescription, renderSummary } from "./markdown.ts";
import type { Page } from "./print-page.ts";
import { home } from "./print-page.ts";

export const eventsPath = `${home}/events`;
export const eventPath = (topic: string): string => `${eventsPath}/${topic}`;
export const eventLink = (topic: string): Html =>
  html`<a href="${eventPath(topic)}"><code>${topic}</code></a>`;

const scopeOf = (topic: Topic): Html => html`<span class="badge scope">${topic.scope}</span>`;

/** Returns the page of all topics. */
export const eventsPage = (topics: readonly Topic[]): Page => ({
  title: "Events",
  kind: "Reference",
  body: html`<p class="lead">
      The topics of webhooks and of the log of events. They are the same for all versions. Fields may be added
      without notice. <a href="${home}/guides/webhooks">Webhooks</a> and
      <a href="${home}/reference/events">the log</a> deliver them.
    </p>
    ${linkList(
      topics.map((topic) => [eventLink(topic.name), renderSummary(topic.description), scopeOf(topic)]),
    )}`,
});

/** Returns the page of a topic, with the fields of its messages. */
export function eventPage(topics: readonly Topic[], topic: Topic): Page {
  const { name, description, schema } = topic;
  return {
    title: name,
    kind: "Event",
    aside: scopeOf(topic),
    neighbours: {
      title: "Events",
      pages: topics.map((each) => ({ title: each.name, path: eventPath(each.name) })),
    },
    headings: [
      { title: "Fields", id: "fields" },
      { title: "JSON Schema", id: "schema" },
    ],
    body: html`<div class="lead">${renderDescription(description)}</div>
      <h2 id="fields">Fields</h2>
      ${renderProperties(schema)}
      <h2 id="schema">JSON Schema</h2>
      <p><a href="${eventPath(name)}.json">${name}.json</a></p>
      <details>
        <summary>Show it</summary>
        ${codeBlock(JSON.stringify(schema, null, 2), "json")}
      </details>`,
  };
}

const renderProperties = ({ properties = {}, required = [] }: TopicSchema, prefix = ""): Html =>
  definitions(
    Object.entries(properties).map(([name, property]) => {
      const path = `${prefix}${name}`;
      return {
        id: path,
        term: html`<code class="signature"><strong>${path}</strong>: ${describeType(property)}</code>
          ${!required.includes(name) && html`<span class="badge bad">optional</span>`}`,
        meaning: html`${renderDescription(property.description)}
        ${property.pattern && html`<p class="quiet">Like <code>${property.pattern}</code></p>`}
        ${property.properties && renderProperties(property, `${path}.`)}`,
      };
    }),
  );

function describeType({ type, format, const: only, enum: values, items }: TopicSchema): string {
  if (only !== undefined) return JSON.stringify(only);
  if (values) return values.map((value) => JSON.stringify(value)).join(" | ");
  const names = [type ?? "any"]
    .flat()
    .map((name) => (name === "array" && items ? `[${describeType(items)}]` : name));
  return names.join(" | ") + (format === undefined ? "" : ` (${format})`);
}
