import { account } from "./pages/account.ts";
import { activity } from "./pages/activity.ts";
import { merchantPlan } from "./pages/merchant-plan.ts";
import { tokens } from "./pages/tokens/index.ts";
import { versions } from "./pages/versions.ts";
import { webhooks } from "./pages/webhooks/index.ts";
import type { Navigation } from "./section.ts";

/** The navigation. To add a section, add an entry here and a file with its pages. */
export const navigation: Navigation = [
  { title: "Settings", sections: [tokens, webhooks, versions, merchantPlan] },
  { title: "Records", sections: [activity] },
  { title: "You", sections: [account] },
];
