import type { Router } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Limits } from "../graphql/limits.ts";
import type { Version } from "../versions/versions.ts";

/** What pages need of the service. */
export interface AdministrationOptions {
  pool: Pool;
  logger: Logger;
  versions: readonly Version[];
  /** What clients may ask for, where the plan says nothing else. */
  limits: Limits;
  /** What time it is, in milliseconds since 1970. */
  now: () => number;
  /** Where clients reach the service, when that differs from what requests say. */
  publicUrl: string | undefined;
  /** Where messages may be sent to beside the public internet, as the setting service.webhook_allow has it. */
  webhookAllow: string;
}

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
