import type { RequestHandler } from "express";
import { timetable } from "../../versions/timetable.ts";
import type { Version } from "../../versions/versions.ts";

/** Path of the list of versions. */
export const versionsPath = "/api/versions";

/** `GET /api/versions`: which versions are served, and until when. Needs no token. */
export function listVersions(all: readonly Version[], now: () => number): RequestHandler {
  return (_request, response) => {
    response.json({ versions: timetable(all, now()) });
  };
}
