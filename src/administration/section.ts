import { Router } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Limits } from "../graphql/limits.ts";
import type { Version } from "../versions/versions.ts";
import { showPage } from "./show-page.ts";
import type { Page } from "./show-page.ts";
import { visitOf } from "./visit.ts";
import type { Visit } from "./visit.ts";

/** Parts and settings of the service that pages use. */
export interface AdministrationOptions {
  pool: Pool;
  logger: Logger;
  versions: readonly Version[];
  /** To be called when rights may have been changed: cached ones are read again. */
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

/** A page, or the path to which the browser is sent instead. */
export type Answer = Page | string;

/** Answers a visit; the ids are those in the path, in order. */
export type PageHandler = (visit: Visit, ...ids: string[]) => Answer | Promise<Answer>;

/** Pages by method and path, such as `GET /:id`, in the order in which they are looked for. */
export type Pages = Readonly<Record<string, PageHandler>>;

/** A section of the administration: an entry of the navigation, and its pages. */
export interface Section {
  title: string;
  /** Path below /admin. */
  path: string;
  /** Whether there is such a section; by default there is. */
  isServed?(options: AdministrationOptions): boolean;
  /** Its pages, for logged-in visitors. Their paths are relative to the section's. */
  pages(options: AdministrationOptions): Pages;
}

/** Sections, in groups. */
export type Navigation = readonly { title: string; sections: readonly Section[] }[];

/** Routes requests to pages. Those below the first page of a section have a link to that. */
export function routerOf(pages: Pages, first?: { title: string; path: string }): Router {
  const router = Router();
  for (const [route, handle] of Object.entries(pages)) {
    const [method, path = ""] = route.split(" ");
    router[method === "POST" ? "post" : "get"](path, async (request, response) => {
      const answer = await handle(visitOf(response), ...Object.values(request.params).map(String));
      if (typeof answer === "string") return response.redirect(303, answer);
      showPage(response, answer, path === "/" ? undefined : first);
    });
  }
  return router;
}
