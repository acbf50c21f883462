import { account } from "./pages/account.ts";
import { activity } from "./pages/activity.ts";
import { explorerSection } from "./pages/explorer.ts";
import { merchantPlanSection } from "./pages/merchant-plan.ts";
import { operationsSection } from "./pages/operations/index.ts";
import { tokensSection } from "./pages/tokens/index.ts";
import { versionsSection } from "./pages/versions.ts";
import { webhooksSection } from "./pages/webhooks/index.ts";
import type { AdministrationOptions, Navigation } from "./section.ts";

/** All of the navigation. To add a section, add an entry here and a file with its pages. */
const all: Navigation = [
  { title: "Settings", sections: [tokensSection, webhooksSection, versionsSection, merchantPlanSection] },
  { title: "Records", sections: [operationsSection, activity] },
  { title: "You", sections: [explorerSection, account] },
];

/** The navigation, without what isn't served. */
export function navigationFor(options: AdministrationOptions): Navigation {
  return all.map(({ title, sections }) => ({
    title,
    sections: sections.filter(({ isServed }) => isServed?.(options) ?? true),
  }));
}
