import type { ServerResponse } from "node:http";
import type { WithClients } from "../postgres/pg-service.ts";
import type { MutationChecks } from "../graphql/mutation-check.ts";

/** What a merchant has for itself of a version whose schema it shares with others. */
export interface OwnParts {
  /** Its connections. */
  withPgClient: WithClients;
  /** Its checks of mutations. */
  mutationChecks: MutationChecks;
  /** What log lines say of it. */
  logged: object;
}

const byResponse = new WeakMap<ServerResponse, OwnParts>();

/** Notes whose request it is, before a shared version gets it. */
export const giveOwnParts = (response: ServerResponse, own: OwnParts): void =>
  void byResponse.set(response, own);

/** What the merchant of a request has for itself; undefined where there is only one. */
export const ownPartsOf = (response: ServerResponse): OwnParts | undefined => byResponse.get(response);
