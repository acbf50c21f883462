import { setTimeout as sleep } from "node:timers/promises";
import type { TestProcess } from "../lib/service.ts";

/** A client that reads a list again and again, from its last position, while others write. */
export interface RunningFollower {
  /** Ids, in the order in which they came. */
  seen: string[];
  /** Number of failed requests, which it repeated. */
  failures(): number;
  /** Reads the rest, and ends. */
  stop(): Promise<void>;
}

interface Page {
  ids: string[];
  /** Next position; null when nothing came. */
  next: string | number | null;
  hasMore: boolean;
}

/** Follows by a function that reads a page, and returns null when that failed. */
function follow(start: string | number | null, read: (from: any) => Promise<Page | null>): RunningFollower {
  const seen: string[] = [];
  let failures = 0;
  let isLast = false;
  const work = async () => {
    for (let from = start; ;) {
      const wasLast = isLast;
      const page = await read(from);
      if (page === null) failures++;
      else {
        seen.push(...page.ids);
        from = page.next ?? from;
        if (wasLast && !page.hasMore) return;
      }
      // Clients ask again after a while, because nothing notifies them
      if (!page?.hasMore) await sleep(40);
    }
  };
  const ended = work();
  return {
    seen,
    failures: () => failures,
    stop() {
      isLast = true;
      return ended;
    },
  };
}

/** Follows all movements by `endCursor`, in a version. */
export function followByCursor(
  process: Pick<TestProcess, "ask">,
  token: string,
  version: string,
  first: () => number,
): RunningFollower {
  const query =
    "query ($first: Int, $after: String) { stockMovements(first: $first, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } } }";
  return follow(null, async (after: string | null) => {
    const { body } = await process.ask(token, { query, variables: { first: first(), after } }, { version });
    if (body?.errors || !body) return null;
    const { edges, pageInfo } = body.data.stockMovements;
    return {
      ids: edges.map(({ node }: any) => node.id),
      next: pageInfo.endCursor,
      hasMore: pageInfo.hasNextPage,
    };
  });
}

/** Follows all movements by their numbers, in ranges, of which only the beginning may exist yet. */
export function followBySequence(process: Pick<TestProcess, "ask">, token: string): RunningFollower {
  const query =
    "query ($gt: Float, $lte: Float) { stockMovements(first: 250, filter: { sequence: { gt: $gt, lte: $lte } }) { edges { node { id sequence } } } }";
  return follow(0, async (gt: number) => {
    const { body } = await process.ask(token, { query, variables: { gt, lte: gt + 250 } });
    if (body?.errors || !body) return null;
    const nodes: { id: string; sequence: number }[] = body.data.stockMovements.edges.map(
      ({ node }: any) => node,
    );
    nodes.sort((a, b) => a.sequence - b.sequence);
    for (const [index, { sequence }] of nodes.entries())
      if (sequence !== gt + index + 1) throw new Error(`After ${gt + index} came ${sequence}.`);
    return { ids: nodes.map(({ id }) => id), next: gt + nodes.length, hasMore: nodes.length === 250 };
  });
}
