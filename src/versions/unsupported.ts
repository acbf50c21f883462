import type { RequestHandler } from "express";
import type { Version } from "./versions.ts";

/**
 * Refuses versions that aren't served, before anything else about the request is looked at. The body has the shape
 * that the specification gives it, which is not that of a GraphQL answer.
 */
export function refuseUnsupported(served: readonly Version[]): RequestHandler {
  const supportedVersions = served.map(({ slug }) => slug);
  return (request, response, next) => {
    const requestedVersion = String(request.params.version);
    if (supportedVersions.includes(requestedVersion)) return next();
    const error = {
      status: "400",
      code: "SERVICE_GRAPHQL__UNSUPPORTED_API_VERSION",
      title: "Unsupported API version",
      detail: `The API version “${requestedVersion}” is not served. Served versions: ${supportedVersions.join(", ")}.`,
      meta: { requestedVersion, supportedVersions },
    };
    response.status(400).json({ errors: [error] });
  };
}
