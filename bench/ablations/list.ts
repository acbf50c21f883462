/** A text to replace in a module. */
interface Change {
  /** The module, in src. */
  file: string;
  /** The text to replace; null replaces the whole module. */
  from: string | null;
  /** The new text. `bench:` stands for this folder. */
  to: string;
}

/** The service without one of its fast paths, or with a simpler path instead. */
export interface Ablation {
  name: string;
  title: string;
  /** The kinds of operations that it could slow down. */
  concerns: { reads: boolean; writes: boolean };
  changes: readonly Change[];
}

const both = { reads: true, writes: true };

const noReads: Change = {
  file: "postgres/pg-service.ts",
  from: "readText: textReader(readRows),",
  to: "readText: null,",
};
const importing = (module: string) => (file: string) => ({
  file,
  from: 'import { PipelinedQuery } from "./pipelined-query.ts";',
  to: `import { PipelinedQuery } from "bench:${module}";`,
});
const senders = ["postgres/pipeline/read-text.ts", "postgres/pipeline/send-together.ts"];

export const ablations: readonly Ablation[] = [
  {
    name: "grafast",
    title: "reads by Grafast, each statement with its settings in one message",
    concerns: { reads: true, writes: false },
    changes: [noReads],
  },
  {
    name: "awaited",
    title: "BEGIN, settings, statement and COMMIT, each awaited",
    concerns: both,
    changes: senders.map(importing("awaited.ts")),
  },
  {
    name: "pg-pipeline",
    title: "BEGIN, settings, statement and COMMIT in one write, by pg's own pipeline mode",
    concerns: both,
    changes: [
      {
        file: "postgres/pipeline/pipelined-query.ts",
        from: null,
        to: 'export * from "bench:pg-pipeline.ts";',
      },
      { file: "postgres/pool.ts", from: "    keepAlive: true,", to: "    keepAlive: true, pipeline: true," },
    ],
  },
  {
    name: "unshared",
    title: "reads that wait aren't sent together",
    concerns: { reads: true, writes: false },
    changes: [
      { file: "postgres/pipeline/read-text.ts", from: "const maxShared = 4;", to: "const maxShared = 1;" },
    ],
  },
  {
    name: "no-groups",
    title: "bookings that arrive together are booked one by one",
    concerns: { reads: false, writes: true },
    changes: [
      {
        file: "mutations/answer.ts",
        from: "const made = groupKey\n",
        to: "const made = false as boolean && groupKey\n",
      },
    ],
  },
];
