import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestProcess } from "../../lib/service.ts";

/** A client that reads a list from its beginning, keeps `endCursor`, and asks for new rows again and again. */
export class MovementFollower {
  /** Ids that it got, in order. */
  readonly seen: string[] = [];
  readonly #process: TestProcess;
  readonly #token: string;
  readonly #version: string;
  readonly #pageSizes: number[];
  #after: string | null = null;

  /** @param pageSizes `first` of its pages, in turns */
  constructor(process: TestProcess, token: string, version: string, pageSizes: number[]) {
    this.#process = process;
    this.#token = token;
    this.#version = version;
    this.#pageSizes = pageSizes;
  }

  /** Reads until it is told to stop. */
  async follow(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.readToEnd();
      await sleep(20); // As a client that asks often
    }
  }

  /** Reads until there is nothing more for now. */
  async readToEnd(): Promise<void> {
    for (let page = 0, hasMore = true; hasMore; page++) hasMore = await this.#readPage(page);
  }

  async #readPage(page: number): Promise<boolean> {
    const query =
      "query ($first: Int, $after: String) { stockMovements(first: $first, after: $after) " +
      "{ edges { node { id } } pageInfo { hasNextPage endCursor } } }";
    const first = this.#pageSizes[page % this.#pageSizes.length];
    const request = { query, variables: { first, after: this.#after } };
    const { body, text } = await this.#process.ask(this.#token, request, { version: this.#version });
    // Its connection may have been cut, too: it repeats the request, as the error says
    if (body.errors?.every(({ extensions }: any) => extensions.retryable)) return true;
    assert.equal(body.errors, undefined, text);
    const { edges, pageInfo } = body.data.stockMovements;
    for (const { node } of edges) this.seen.push(node.id.slice(-36));
    this.#after = pageInfo.endCursor ?? this.#after;
    return pageInfo.hasNextPage;
  }
}
