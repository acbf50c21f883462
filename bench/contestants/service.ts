import flags from "../../bin/flags.json" with { type: "json" };
import { readNames } from "../queries/reads.ts";
import { askService, writeToService } from "../queries/service.ts";
import { writeNames } from "../queries/writes.ts";
import type { Contestant } from "./contestant.ts";
import { dataOf } from "./contestant.ts";

/** The product itself, as it runs in production. */
export const serviceContestant: Contestant = {
  name: "service",
  title: "this service, with everything on",
  program: new URL("service-server.ts", import.meta.url),
  // As `erp start` has them
  execArgv: [...flags.all, ...flags.service, "--import=./bin/preload.js"],
  environment: {
    LOG_LEVEL: "info",
    // Points are counted as usual, but there are enough for measuring
    LIMIT_BUCKET: "1000000000",
    LIMIT_REFILL: "1000000000",
    LIMIT_TOKEN_REQUESTS: "1000000",
    // Log-ins are limited for each address
    TRUST_PROXY: "loopback",
  },
  answers: [...readNames, ...writeNames],
  remarks: ["Its limits on how much a credential may ask for are set so high that they refuse nothing."],
  makeAdapter: async () => ({ ask: askService, read: (_query, body) => dataOf(body) }),
  write: writeToService,
};
