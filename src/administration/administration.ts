import { Router, urlencoded } from "express";
import { verifyUtf8 } from "../lib/charset.ts";
import { requireOwnForm } from "./csrf.ts";
import { pageHeaders } from "../html/headers.ts";
import { logIn, logOut } from "./log-in.ts";
import { navigationFor } from "./navigation.ts";
import { refuseUnknownPage, showProblem } from "./problem-page.ts";
import { recogniseVisitor, requireVisitor } from "./session.ts";
import { makeRouter } from "./section.ts";
import type { AdministrationOptions } from "./section.ts";

/** Longest form, in bytes. */
const maxFormBytes = 65_536;

/** The router of the administration, at `/admin`: its middlewares in order. */
export function administration(options: AdministrationOptions): Router {
  const router = Router();
  const navigation = navigationFor(options.explorer);
  router.use(pageHeaders(options.publicUrl));
  router.use(recogniseVisitor(options, navigation));
  router.use(urlencoded({ extended: false, limit: maxFormBytes, verify: verifyUtf8 }));

  router.use("/log-in", requireOwnForm(options.publicUrl), makeRouter(logIn(options.pool)));
  router.use(requireVisitor, requireOwnForm(options.publicUrl));
  router.use("/log-out", makeRouter(logOut));

  const sections = navigation.flatMap(({ sections }) => sections);
  router.get("/", (_request, response) => response.redirect(303, `/admin${sections[0]!.path}`));
  for (const section of sections) router.use(section.path, makeRouter(section.pages(options), section));

  router.use(refuseUnknownPage, showProblem(options.logger));
  return router;
}
