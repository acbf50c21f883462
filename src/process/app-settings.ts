import type { PartSettings } from "../http/parts.ts";
import type { Settings } from "./settings.ts";

/** The settings of the service for one merchant, at any address. */
export interface AppSettings
  extends
    PartSettings,
    Pick<
      Settings,
      "fastReads" | "webhookPorts" | "webhookLimits" | "bulkLimits" | "tokenSigningKeys" | "secretsKeys"
    > {
  timeoutsMs: Pick<Settings["timeoutsMs"], "mutation">;
}
