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

/** Puts new answers into a guide, one for each example. */
export async function writeAnswers(file: URL, answers: string[]): Promise<void> {
  const text = await readFile(file, "utf8");
  let index = 0;
  const replaced = text.replace(example, (_all, request: string) => {
    return `\`\`\`graphql\n${request}\`\`\`\n\n\`\`\`json\n${answers[index++]}\`\`\``;
  });
  await writeFile(file, replaced);
}
