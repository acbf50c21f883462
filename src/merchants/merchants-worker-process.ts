import "../process/graphile-env.ts";
// The program of one of several worker processes that serve the same merchants.
import { runWorker } from "../process/run-worker.ts";
import { serveMerchants } from "./serve-merchants.ts";
import type { ServeMerchantsOptions } from "./serve-merchants.ts";

await runWorker<Pick<ServeMerchantsOptions, "settings">>((options, own) =>
  serveMerchants({ ...options, ...own }),
);
