import type { Router } from "express";
import { account } from "./pages/account.ts";
import { activity } from "./pages/activity.ts";
import { plan } from "./pages/plan.ts";
import { tokens } from "./pages/tokens/index.ts";
import { versions } from "./pages/versions.ts";
import type { AdministrationOptions } from "./visit.ts";

/** A section of the administration: an entry of the navigation, and the pages behind it. */
export interface Section {
  title: string;
  /** Path below /admin. */
  path: string;
  /** Its pages, for visitors who have logged in. Their paths are relative to the section's. */
  pages(options: AdministrationOptions): Router;
}

/** Sections, in groups. */
export type Navigation = readonly { title: string; sections: readonly Section[] }[];

/** The navigation. A new section is an entry here and a file with its pages. */
export const navigation: Navigation = [
  { title: "Settings", sections: [tokens, versions, plan] },
  { title: "Records", sections: [activity] },
  { title: "You", sections: [account] },
];
