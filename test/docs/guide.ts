import { readFile, writeFile } from "node:fs/promises";

/** A request of a guide, with the answer that stands below it. */
export interface Example {
  request: string;
  /** As text, in the guide's own layout. */
  answer: string;
  /** Line of the guide where the request begins. */
  line: number;
}

const example = /```graphql\n([^]*?)```\n\n```json\n([^]*?)```/g;

/** The examples of a guide, in their order: each a block of GraphQL, followed by one of JSON. */
export async function readExamples(file: URL): Promise<Example[]> {
  const text = await readFile(file, "utf8");
  return [...text.matchAll(example)].map(({ 1: request, 2: answer, index }) => {
    return { request: request!, answer: answer!, line: text.slice(0, index).split("\n").length };
  });
}

/** Puts requests and answers into a guide, in the place of those that are there. */
export async function writeExamples(file: URL, examples: Omit<Example, "line">[]): Promise<void> {
  const text = await readFile(file, "utf8");
  let index = 0;
  const replaced = text.replace(example, () => {
    const { request, answer } = examples[index++]!;
    return `\`\`\`graphql\n${request}\`\`\`\n\n\`\`\`json\n${answer}\`\`\``;
  });
  await writeFile(file, replaced);
}

// Secrets are as new each time as ids
const ids = /gid:\/\/service\/([A-Za-z]+)\/([0-9a-f-]{36}|NEW)|whsec_[A-Za-z0-9+/]{43}=/g;

/** Whether what has this id was made in the last hour: ids begin with their time, in milliseconds. */
const isNew = (id: string): boolean =>
  Number.parseInt(id.slice(-36).replace("-", "").slice(0, 12), 16) > Date.now() - 3_600_000;

/** Which ids, and secrets, of a guide stand for which ids of this run: what a guide makes has other ids each time. */
export class IdsOfGuide {
  readonly #known = new Map<string, string>();

  /** Notes what an answer has where the guide's has something else. */
  learn(written: unknown, answered: unknown): void {
    const [expected, actual] = [written, answered].map((answer) => [...JSON.stringify(answer).matchAll(ids)]);
    for (const [index, [id, type]] of actual!.entries()) {
      if (type !== undefined && !isNew(id)) continue;
      const other = expected![index]?.[0];
      if (other) this.#known.set(other, id);
      // While a guide is being written, `…/NEW` is the newest id of a type
      this.#known.set(`gid://service/${type}/NEW`, id);
    }
  }

  /** A text of the guide with the ids of this run. */
  translate(text: string): string {
    return text.replace(ids, (id) => this.#known.get(id) ?? id);
  }
}
