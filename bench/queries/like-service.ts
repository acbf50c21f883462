import type { Ask, Speaker } from "../contestants/contestant.ts";
import { dataOf } from "../contestants/contestant.ts";
import { learnCursors } from "./cursors.ts";
import type { Parameters, ReadDialect, ReadName } from "./reads.ts";
import { askService, pagedLists } from "./service.ts";

const askLikeService: ReadDialect = (query, parameters) => ({
  ...askService(query, parameters),
  path: "/graphql",
});

/** Asks a peer whose schema and cursors equal the service's in these queries. */
export const likeService: Speaker = {
  ask: askLikeService,
  read: (_query, body) => dataOf(body),
};

/** The same for a peer with its own cursors. */
export async function likeServiceBut(ask: Ask): Promise<Speaker> {
  const lists = [...new Set(Object.values(pagedLists))];
  const learned = await Promise.all(
    lists.map(async (list) => [list, await learnCursors(ask, list)] as const),
  );
  const cursors = new Map(learned);
  const cursorOf = (query: ReadName, { after }: Parameters) => {
    const list = pagedLists[query as keyof typeof pagedLists];
    return after === undefined ? {} : { after: cursors.get(list)!(after) };
  };
  return {
    ...likeService,
    ask(query, parameters) {
      const { path, body } = askLikeService(query, parameters);
      const { variables, ...others } = body as { variables: object };
      return { path, body: { ...others, variables: { ...variables, ...cursorOf(query, parameters) } } };
    },
  };
}
