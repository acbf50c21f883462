import { destinations, setting } from "./setting.ts";

/** Settings of shipping labels. */
export const labels = {
  carrierAllow: setting("CARRIER_ALLOW", destinations, "", {
    example: "127.0.0.1/32,carriers.internal",
    doc: "Host names, addresses and ranges outside the public internet at which adapters of carriers may be. These may have any port, and `http:`. Elsewhere, adapters need `https:` and port 443.",
  }),
};
