import { account } from "./pages/account.ts";
import { activity } from "./pages/activity.ts";
import { merchantPlanSection } from "./pages/merchant-plan.ts";
import { operationsSection } from "./pages/operations/index.ts";
import { tokensSection } from "./pages/tokens/index.ts";
import { versionsSection } from "./pages/versions.ts";
import { webhooksSection } from "./pages/webhooks/index.ts";
import type { Navigation } from "./section.ts";

/** The navigation. To add a section, add an entry here and a file with its pages. */
export const navigation: Navigation = [
  { title: "Settings", sections: [tokensSection, webhooksSection, versionsSection, merchantPlanSection] },
  { title: "Records", sections: [operationsSection, activity] },
  { title: "You", sections: [account] },
];
