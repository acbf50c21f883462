import type { Availability } from "../../../versions/availability.ts";
import { retryAfterSeconds } from "../../../versions/availability.ts";
import { isServed, retirementOf } from "../../../versions/lifetime.ts";
import type { ServedVersion } from "../../../versions/serve-version.ts";
import { formatDay } from "../../../versions/timetable.ts";
import { pathOf } from "../../../versions/versions.ts";
import type { Version } from "../../../versions/versions.ts";
import { sendJson } from "../../answers.ts";
import type { Middleware, Request, Response } from "../../pipeline.ts";

/** The path of the list of versions. */
export const versionsPath = "/api/versions";

/** The path of a version's endpoint or schema, whether the version exists or not. Also absolute URLs, as proxies send them. */
const versionUrl = /^(?:https?:\/\/[^/?#]*)?\/api\/graphql\/([^/?#]+)(\/schema\.graphql)?(?:$|[?#])/;

/** Whether a request is to a GraphQL endpoint. */
export function isGraphqlUrl(url: string): boolean {
  const match = versionUrl.exec(url);
  return match !== null && match[2] === undefined;
}

/** Returns the requested version; null when it isn't served, and the request has been refused. */
export type FindVersion = (request: Request, response: Response) => Version | null;

/**
 * Refuses versions that aren't served, before anything else about the request is checked. The specification prescribes
 * the body, which isn't a GraphQL response. In a version's last months every response announces the end by `Sunset`
 * (RFC 8594), `Deprecation` (RFC 9745), `Link`, and the service's own header. A version that is unavailable because of a
 * fault of ours responds with 503; the others continue.
 *
 * @param now the time in milliseconds since 1970
 */
export function versionFinder(
  all: readonly Version[],
  now: () => number,
  availability: Pick<Availability, "isUnavailable">,
): FindVersion {
  const known = new Map(
    all.map((version) => [version.slug, { version, retirement: retirementOf(version, all) }]),
  );
  // Nearly all requests have exactly one of these addresses
  const byUrl = new Map([...known].map(([slug, one]) => [pathOf({ slug }), one]));
  return (request, response) => {
    const time = now();
    const direct = byUrl.get(request.url!);
    const slug = direct ? direct.version.slug : decodeURIComponent(versionUrl.exec(request.url!)?.[1] ?? "");
    const found = direct ?? known.get(slug);
    if (!found || !isServed(found.version, all, time)) {
      sendJson(response, 400, { errors: [unsupported(slug, all, time)] });
      return null;
    }
    if (availability.isUnavailable(slug)) {
      response.setHeader("retry-after", retryAfterSeconds);
      sendJson(response, 503, { errors: [unavailable(slug)] });
      return null;
    }
    const { version, retirement } = found;
    if (retirement && time >= retirement.deprecatedAt) {
      const { deprecatedAt, sunsetAt, successor } = retirement;
      response.setHeader("sunset", new Date(sunsetAt).toUTCString());
      response.setHeader("deprecation", `@${deprecatedAt / 1000}`);
      response.setHeader("x-service-api-deprecation-date", formatDay(deprecatedAt));
      const links = [`<${versionsPath}>; rel="sunset"`];
      if (successor && isServed(successor, all, time))
        links.push(`<${pathOf(successor)}>; rel="successor-version"`);
      response.setHeader("link", links.join(", "));
    }
    return version;
  };
}

/** Finds the requested version among those that are served. */
export function findVersion(
  find: FindVersion,
  served: readonly ServedVersion[],
): Middleware<never, "served"> {
  const bySlug = new Map(served.map((each) => [each.version.slug, each]));
  return (request, response, next) => {
    const version = find(request, response);
    if (version) next({ served: bySlug.get(version.slug)! });
  };
}

function unsupported(requestedVersion: string, all: readonly Version[], time: number) {
  const supportedVersions = all.filter((version) => isServed(version, all, time)).map(({ slug }) => slug);
  return {
    status: "400",
    code: "SERVICE_GRAPHQL__UNSUPPORTED_API_VERSION",
    title: "Unsupported API version",
    detail: `The API version “${requestedVersion}” is not served. Served versions: ${supportedVersions.join(", ")}.`,
    meta: { requestedVersion, supportedVersions },
  };
}

function unavailable(requestedVersion: string) {
  return {
    status: "503",
    code: "SERVICE_GRAPHQL__VERSION_UNAVAILABLE",
    title: "API version unavailable",
    detail: `The API version “${requestedVersion}” can't be served at the moment because of a fault on our side. Nothing was done. Try again later.`,
    meta: { requestedVersion },
  };
}
