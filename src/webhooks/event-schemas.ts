import type pg from "pg";

/** A file of docs/events: its name and content. */
export type SchemaFile = [name: string, text: string];

interface Topic {
  name: string;
  description: string;
  scope: string;
  schema: object;
}

/** Prints the files that describe the bodies of events: a JSON Schema for each topic, and an index. */
export async function printEventSchemas(client: pg.ClientBase): Promise<SchemaFile[]> {
  const { rows: topics } = await client.query<Topic>(
    "select name, description, scope, events.schema(name) as schema from events.topic order by name",
  );
  const files = topics.map(({ name, schema }): SchemaFile => [`${name}.json`, printJson(schema)]);
  return [...files, ["README.md", printIndex(topics)]];
}

const printJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const printIndex = (topics: Topic[]): string => `# Events

The topics of webhooks and of the log of events. Each has a JSON Schema of its messages; \`npm run schema\` writes these files
from the database. Fields may be added without notice. [Events](../reference/events.md) has the parts that all messages share.

| Topic | When | Scope |
| ----- | ---- | ----- |
${topics.map(({ name, description, scope }) => `| [${name}](${name}.json) | ${description} | \`${scope}\` |`).join("\n")}
`;
