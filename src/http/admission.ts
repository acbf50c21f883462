import type { GraphQLError } from "postgraphile/graphql";
import { credentialEnded } from "../auth/access-token.ts";
import type { ActiveCredentials } from "../auth/active-credentials.ts";
import type { Caller } from "../auth/caller.ts";
import { callerOf } from "../auth/caller.ts";
import type { CurrentMerchantPlan } from "../auth/merchant-plan.ts";
import type { FileRights } from "../bulk/storage.ts";
import { apiError } from "../errors/api-error.ts";
import type { Reader } from "../versions/reader.ts";

/** A client's work that outlasts a short request. */
export interface LongWork {
  /** Whether it changes data. */
  isWrite: boolean;
  /** Whether it is a stored operation of the caller. */
  isStored: (caller: Caller) => boolean | Promise<boolean>;
  /** Returns the error if scopes aren't enough for it; null if they are. */
  refusal: (scopes: ReadonlySet<string>) => GraphQLError | null;
}

const forbidden = (message: string): GraphQLError => apiError("FORBIDDEN", message);

/**
 * Decides who may use what stays open for long: streams, uploads, files of bulk operations and documents. It checks at
 * the beginning and again while it is open. For short requests, middlewares make the same checks.
 *
 * @throws an error with the code FORBIDDEN, or a `TokenRefusal`
 */
export class Admission {
  readonly #plan: CurrentMerchantPlan;
  readonly #credentials: ActiveCredentials;
  readonly #headReader: () => Pick<Reader, "refusal">;

  /** @param headReader checks queries of `unstable`. @throws when it isn't served */
  constructor(
    plan: CurrentMerchantPlan,
    credentials: ActiveCredentials,
    headReader: () => Pick<Reader, "refusal">,
  ) {
    this.#plan = plan;
    this.#credentials = credentials;
    this.#headReader = headReader;
  }

  /** Requires that the merchant's plan has an API. */
  async requirePlan(isWrite = false): Promise<void> {
    const { name } = await this.#plan.of("current");
    if (name === "none") throw forbidden("The merchant's plan does not include the API.");
    if (isWrite && name !== "full") throw forbidden("The merchant's plan allows queries only.");
  }

  /** Requires that a caller may continue such work, even if the access token has expired since. */
  async require(caller: Caller, { isWrite, isStored, refusal }: LongWork): Promise<void> {
    await this.requirePlan(isWrite);
    const { claims } = caller;
    const allowed = claims ? await this.#credentials.of(claims.accessKey) : null;
    if (!claims || !allowed) throw credentialEnded();
    const now = callerOf(claims, allowed);
    if (now.storedOperationsOnly && !(await isStored(now)))
      throw forbidden(
        "This API credential may send stored operations only, and this operation is not stored for it.",
      );
    const error = refusal(now.scopes);
    if (error) throw error;
  }

  /** Requires that the API credential of a bulk operation may still read its files. */
  async requireFile({ resource, query, variables, scopes }: FileRights): Promise<void> {
    await this.requirePlan();
    const now = new Set(scopes);
    const mayRead =
      query === null
        ? now.has(`${resource}:write`)
        : (await this.#headReader().refusal(query, variables ?? {}, now)) === null;
    if (!mayRead || !now.has("bulk_operations:write"))
      throw forbidden("The API credential that requested this file may no longer read it.");
  }
}
