import { askService } from "../queries/service.ts";
import type { Contestant } from "./contestant.ts";
import { dataOf } from "./contestant.ts";

/** The product itself, as it runs in production. */
export const service: Contestant = {
  name: "service",
  title: "this service, with everything on",
  program: new URL("service-server.ts", import.meta.url),
  environment: { NODE_ENV: "production", LOG_LEVEL: "info" },
  speak: async () => ({ ask: askService, read: (_query, body) => dataOf(body) }),
};
