import { globSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { countShiftDays } from "../../src/commands/demo.ts";

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

/** The requests that stand alone in the pages of docs: indented, without an answer below them. */
export function readLooseRequests(root: URL): { file: string; requests: string[] }[] {
  return globSync("docs/**/*.md", { cwd: root })
    .map((file) => {
      const text = readFileSync(new URL(file, root), "utf8").replace(/```[^]*?```/g, "");
      const blocks = text.match(/(?:^ {4}.*\n|^\n(?= {4}))+/gm) ?? [];
      return { file, requests: blocks.filter((block) => /^\s*(\{ *\w|query\b|mutation\b)/.test(block)) };
    })
    .filter(({ requests }) => requests.length > 0);
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

const dates = /(?<!\d)\d{4}-\d\d-\d\d(?!\d)/g;
const dayMs = 86_400_000;

/**
 * A reader of a guide, who replaces what differs from the guide: ids and secrets of new objects, and dates, which are
 * those of the shop of the first of June 2026.
 */
export class GuideReader {
  readonly #known = new Map<string, string>();
  readonly #ageMs: number;

  /** @param until the day of the reader's shop */
  constructor(until: Date) {
    this.#ageMs = countShiftDays(until) * dayMs;
  }

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

  /** A text of the guide with the ids and dates of this run. */
  translate(text: string): string {
    return text
      .replace(ids, (id) => this.#known.get(id) ?? id)
      .replace(dates, (date) => new Date(Date.parse(date) + this.#ageMs).toISOString().slice(0, 10));
  }
}
