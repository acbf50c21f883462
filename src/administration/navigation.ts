import { account } from "./pages/account-section.ts";
import { activity } from "./pages/activity-section.ts";
import { explorerSection } from "./pages/explorer-section.ts";
import { merchantPlanSection } from "./pages/plan-section.ts";
import { operationsSection } from "./pages/operations-section.ts";
import { reportsSection } from "./pages/reports-section.ts";
import { credentialsSection } from "./pages/tokens/tokens-section.ts";
import { versionsSection } from "./pages/versions-section.ts";
import { webhooksSection } from "./pages/webhooks/webhooks-section.ts";

/** Returns the menu: sections in groups. To add a section, add an entry here and a file with its pages. */
export const navigationFor = (hasExplorer: boolean) => [
  {
    title: "Settings",
    sections: [credentialsSection, webhooksSection, versionsSection, merchantPlanSection],
  },
  { title: "Stock", sections: [reportsSection] },
  { title: "Records", sections: [operationsSection, activity] },
  { title: "You", sections: hasExplorer ? [explorerSection, account] : [account] },
];
