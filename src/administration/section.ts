import type { Router } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Limits } from "../graphql/limits.ts";
import type { Version } from "../versions/versions.ts";

/** Parts and settings of the service that pages use. */
export interface AdministrationOptions {
  pool: Pool;
  logger: Logger;
  versions: readonly Version[];
  /** To be called when rights may have been changed: cached ones are read anew. */
  outdateRights: () => void;
  /** Limits of clients that apply unless the plan has its own. */
  limits: Limits;
  /** The time in milliseconds since 1970. */
  now: () => number;
  /** The address that clients use, if it differs from that of requests. */
  publicUrl: string | undefined;
  /** Whether the explorer is served. */
  explorer: boolean;
  /** Webhook destinations allowed beside the public internet, as the setting service.webhook_allow. */
  webhookAllow: string;
}

/** A section of the administration: an entry of the navigation, and its pages. */
export interface Section {
  title: string;
  /** Path below /admin. */
  path: string;
  /** Whether there is such a section; by default there is. */
  isServed?(options: AdministrationOptions): boolean;
  /** Its pages, for logged-in visitors. Their paths are relative to the section's. */
  pages(options: AdministrationOptions): Router;
}

/** Sections, in groups. */
export type Navigation = readonly { title: string; sections: readonly Section[] }[];
