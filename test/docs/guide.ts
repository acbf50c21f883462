import { readFile, writeFile } from "node:fs/promises";

/** A request of a guide, with the answer below it. */
export interface Example {
  request: string;
  /** As text, in the guide's own layout. */
  answer: string;
  /** Line of the guide where the request begins. */
  line: number;
}

const example = /```graphql\n([^]*?)```\n\n```json\n([^]*?)```/g;

/** The examples of a guide, in order: each a block of GraphQL, followed by one of JSON. */
export async function readExamples(file: URL): Promise<Example[]> {
  const text = await readFile(file, "utf8");
  return [...text.matchAll(example)].map(({ 1: request, 2: answer, index }) => {
    return { request: request!, answer: answer!, line: text.slice(0, index).split("\n").length };
  });
}

/** Replaces the requests and answers in a guide. */
export async function writeExamples(file: URL, examples: Omit<Example, "line">[]): Promise<void> {
  const text = await readFile(file, "utf8");
  let index = 0;
  const replaced = text.replace(example, () => {
    const { request, answer } = examples[index++]!;
    return `\`\`\`graphql\n${request}\`\`\`\n\n\`\`\`json\n${answer}\`\`\``;
  });
  await writeFile(file, replaced);
}

// Secrets are new each time, as ids are
const ids = /gid:\/\/service\/([A-Za-z]+)\/([0-9a-f-]{36}|NEW)|whsec_[A-Za-z0-9+/]{43}=/g;

/** Whether the object of an id was made in the last hour: ids begin with their time, in milliseconds. */
const isNew = (id: string): boolean =>
  Number.parseInt(id.slice(-36).replace("-", "").slice(0, 12), 16) > Date.now() - 3_600_000;

/** Translates ids and secrets of a guide to those of this run, which differ each time for new objects. */
export class IdsOfGuide {
  readonly #known = new Map<string, string>();

  /** Learns the ids of an answer by comparing it with the guide's. */
  learn(written: unknown, answered: unknown): void {
    const [expected, actual] = [written, answered].map((answer) => [...JSON.stringify(answer).matchAll(ids)]);
    for (const [index, [id, type]] of actual!.entries()) {
      if (type !== undefined && !isNew(id)) continue;
      const other = expected![index]?.[0];
      if (other) this.#known.set(other, id);
      // While you write a guide, `…/NEW` is the newest id of a type
      this.#known.set(`gid://service/${type}/NEW`, id);
    }
  }

  /** A text of the guide with the ids of this run. */
  translate(text: string): string {
    return text.replace(ids, (id) => this.#known.get(id) ?? id);
  }
}
