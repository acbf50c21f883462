import { Router } from "express";
import type { Pool } from "pg";
import type { Logger } from "pino";
import type { Limits } from "../graphql/limits.ts";
import type { Version } from "../versions/versions.ts";
import { showPage } from "./show-page.ts";
import type { Link, Page } from "./show-page.ts";
import { getVisit } from "./visit.ts";
import type { Visit } from "./visit.ts";

/** Parts and settings of the service that pages use. */
export interface AdministrationOptions {
  pool: Pool;
  logger: Logger;
  versions: readonly Version[];
  /** Call this when rights may have changed: cached rights are then read again. */
  outdateRights: () => void;
  /** Limits of clients, which the plan may override. */
  limits: Limits;
  /** The time in milliseconds since 1970. */
  now: () => number;
  /** The service's public URL, if it differs from the URL of requests. */
  publicUrl: string | undefined;
  /** Whether the explorer is served. */
  explorer: boolean;
  /** Webhook destinations allowed in addition to the public internet, as in the setting service.webhook_allow. */
  webhookAllow: string;
}

/** A page, or the path that the browser is redirected to. */
export type PageOrRedirect = Page | string;

/** Answers a request; with null if it has sent a file. The ids are the path's parameters, in order. */
export type PageHandler = (visit: Visit, ...ids: string[]) => PageOrRedirect | Promise<PageOrRedirect | null>;

/** Pages by method and path, such as `GET /:id`. The first match counts. */
export type Pages = Readonly<Record<string, PageHandler>>;

/** A section of the administration: a menu entry and its pages. */
export interface Section {
  title: string;
  /** Path below /admin. */
  path: string;
  /** Its pages, for logged-in visitors. Their paths are relative to the section's. */
  pages(options: AdministrationOptions): Pages;
}

/** Routes requests to pages. Pages below the first page of a section link to it. */
export function makeRouter(pages: Pages, first?: Link): Router {
  const router = Router();
  for (const [route, handle] of Object.entries(pages)) {
    const [method, path = ""] = route.split(" ");
    router[method === "POST" ? "post" : "get"](path, async (request, response) => {
      const answer = await handle(getVisit(response), ...Object.values(request.params).map(String));
      if (answer === null) return;
      if (typeof answer === "string") return response.redirect(303, answer);
      showPage(response, answer, path === "/" ? undefined : first);
    });
  }
  return router;
}
