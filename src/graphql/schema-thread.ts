import type { GraphQLSchema } from "postgraphile/graphql";
import { GraphQLError } from "postgraphile/graphql";
import { openThreads } from "../lib/threads.ts";
import { FairQueue } from "../lib/fair-queue.ts";
import { asSource } from "./check-document.ts";
import type { Limits } from "./limits.ts";
import type { SchemaText } from "./schema-copy.ts";
import { textOfSchema } from "./schema-copy.ts";
import type { CheckTask, SchemaAnswer, ErrorData, ForSchema, IntrospectTask } from "./schema-work.ts";

/** Waiting work: in all, and of one client. */
const maxWaiting = { ofAll: 200, ofOne: 10 };
/** Milliseconds that a client waits for its turn, and that a piece of work may take. Most pieces take 20. */
const timeoutsMs = { wait: 5_000, work: 10_000 };

/** Called when work for a client is done, with its duration in milliseconds. */
export type OnWorked = (client: string, ms: number) => void;

/** What requests have the thread do. It throws a `NoTurn` when too much work waits. */
export interface SchemaWork {
  /** Errors of a document: of its limits, and of all rules but the one about values. */
  check(client: string, schema: GraphQLSchema, text: string, limits: Limits): Promise<GraphQLError[]>;
  /** Answers a valid operation that only queries the schema: its data as JSON, or null when there are errors. */
  introspect(
    client: string,
    schema: GraphQLSchema,
    task: Omit<IntrospectTask, keyof ForSchema>,
  ): Promise<Uint8Array | null>;
}

/**
 * A thread for work with schemas that would hold the event loop for tens of milliseconds: checking long documents, and
 * introspection. It does one piece at a time, client by client. The thread starts when it is needed.
 */
export class SchemaThread {
  readonly #queue = new FairQueue({
    limit: () => 1,
    maxWaiting: maxWaiting.ofAll,
    maxWaitingPerOwner: maxWaiting.ofOne,
    maxWaitMs: () => timeoutsMs.wait,
  });
  readonly #threads = openThreads({
    program: new URL("./schema-work.ts", import.meta.url),
    stackSizeMb: 1,
  });
  readonly #known = new WeakMap<GraphQLSchema, { id: number; text: SchemaText }>();
  #schemas = 0;

  /**
   * The thread for the clients of a merchant.
   *
   * @param onWorked called when work for a client is done, with its duration in milliseconds
   */
  of(merchant: string, onWorked: OnWorked): SchemaWork {
    const run = <Result>(name: string, client: string, schema: GraphQLSchema, task: object) =>
      this.#run<Result>(name, `${merchant} ${client}`, (ms) => onWorked(client, ms), schema, task);
    return {
      async check(client, schema, text, limits) {
        const task: Omit<CheckTask, keyof ForSchema> = { text, limits };
        const errors = await run<ErrorData[]>("checkDocument", client, schema, task);
        const source = asSource(text);
        return errors.map(({ message, ...place }) => new GraphQLError(message, { source, ...place }));
      },
      introspect: (client, schema, task) => run<Uint8Array | null>("introspect", client, schema, task),
    };
  }

  /** Ends the thread. Waiting work fails. */
  async close(): Promise<void> {
    await this.#threads.destroy();
  }

  #run<Result>(
    name: string,
    client: string,
    onDone: (ms: number) => void,
    schema: GraphQLSchema,
    task: object,
  ): Promise<Result> {
    return this.#queue.run(client, async () => {
      const { id, text } = this.#dataOf(schema);
      const run = (more: object): Promise<SchemaAnswer<Result>> => {
        const signal = AbortSignal.timeout(timeoutsMs.work);
        return this.#threads.run({ schemaId: id, ...more, ...task }, { name, signal }) as Promise<
          SchemaAnswer<Result>
        >;
      };
      const done = (await run({})) ?? (await run({ schemaText: text }))!;
      onDone(done.ms);
      return done.result;
    });
  }

  #dataOf(schema: GraphQLSchema): { id: number; text: SchemaText } {
    let data = this.#known.get(schema);
    if (!data) this.#known.set(schema, (data = { id: this.#schemas++, text: textOfSchema(schema) }));
    return data;
  }
}
