import type {} from "postgraphile";
import { scopeRefusal } from "../src/graphql/missing-scopes.ts";

/**
 * Refuses an operation before any of it runs, when the caller lacks a scope for one of its fields. A check in the plan
 * would come too late: a mutation would have been committed before a field below it is refused.
 */
export const ScopeCheckPlugin: GraphileConfig.Plugin = {
  name: "ScopeCheckPlugin",
  description: "Refuses operations with fields whose scopes the caller lacks",
  version: "1.0.0",
  grafast: {
    middleware: {
      execute(next, { args }) {
        const refusal = scopeRefusal(args);
        return refusal ? { errors: [refusal] } : next();
      },
      subscribe(next, { args }) {
        const refusal = scopeRefusal(args);
        return refusal ? { errors: [refusal] } : next();
      },
    },
  },
};
