import type { GraphQLSchema } from "postgraphile/graphql";
import { GraphQLError } from "postgraphile/graphql";
import { WorkThreads } from "../lib/threads.ts";
import { makeSource } from "./check-document.ts";
import type { Limits } from "./limits.ts";
import { schemaToText } from "./schema-copy.ts";
import type { CheckTask, ErrorData, SchemaReference, IntrospectTask, SchemaAnswer } from "./schema-work.ts";

/** Called when work for a client is done, with its duration in milliseconds. */
export type OnWorked = (client: string, ms: number) => void;

/** The thread's work for requests of one merchant. It throws if too much work is waiting. */
export type SchemaWork = ReturnType<SchemaThread["forMerchant"]>;

/**
 * A thread for work with schemas that would block the event loop for tens of milliseconds: checking long documents, and
 * introspection. It does one piece at a time, client by client. The thread starts when it is needed.
 */
export class SchemaThread {
  readonly #threads = new WorkThreads({
    program: new URL("./schema-work.ts", import.meta.url),
    stackSizeMb: 1,
    maxWaiting: 200,
    maxWaitingPerOwner: 10,
    maxWaitMs: 5_000,
    // Most pieces take 20 ms
    timeoutMs: 10_000,
  });
  readonly #known = new WeakMap<GraphQLSchema, Required<SchemaReference>>();
  #schemas = 0;

  /**
   * Returns the thread's work for the clients of a merchant.
   *
   * @param onWorked called when work for a client is done, with its duration in milliseconds
   */
  forMerchant(merchant: string, onWorked: OnWorked) {
    const run = async <Result>(name: string, client: string, schema: GraphQLSchema, task: object) => {
      const { schemaId, schemaText } = this.#schemaData(schema);
      const { result, ms } = (await this.#threads.run<SchemaAnswer<Result>>(
        `${merchant} ${client}`,
        name,
        { schemaId, ...task },
        { schemaText },
      ))!;
      onWorked(client, ms);
      return result;
    };
    return {
      /** Returns the errors of a document: by its limits, and by all rules except those about values. */
      async check(
        client: string,
        schema: GraphQLSchema,
        text: string,
        limits: Limits,
      ): Promise<GraphQLError[]> {
        const task: Omit<CheckTask, keyof SchemaReference> = { text, limits };
        const errors = await run<ErrorData[]>("checkDocument", client, schema, task);
        const source = makeSource(text);
        return errors.map(({ message, ...place }) => new GraphQLError(message, { source, ...place }));
      },
      /** Answers a valid operation that only queries the schema: its data as JSON, or null when there are errors. */
      introspect: (
        client: string,
        schema: GraphQLSchema,
        task: Omit<IntrospectTask, keyof SchemaReference>,
      ) => run<Uint8Array | null>("introspect", client, schema, task),
    };
  }

  /** Ends the thread. Waiting work fails. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  #schemaData(schema: GraphQLSchema): Required<SchemaReference> {
    let data = this.#known.get(schema);
    if (!data) {
      data = { schemaId: this.#schemas++, schemaText: schemaToText(schema) };
      this.#known.set(schema, data);
    }
    return data;
  }
}
