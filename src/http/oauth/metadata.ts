import { isIPv6 } from "node:net";
import type { Request, RequestHandler } from "express";
import type { GraphQLSchema } from "postgraphile/graphql";
import { isObjectType } from "postgraphile/graphql";
import { memoizeByObject } from "../../lib/remembered.ts";
import { refuse } from "../answers.ts";
import type { ServedVersion } from "../../versions/serve-version.ts";

/** Path of the metadata (RFC 8414). */
export const metadataPath = "/.well-known/oauth-authorization-server";
/** Path of the token endpoint. */
export const tokenPath = "/api/oauth/token";

/**
 * Handles `GET /.well-known/oauth-authorization-server`: describes the token endpoint for OAuth clients.
 *
 * @param hosts host names of the service, for use without a public URL
 */
export function serveMetadata(
  served: readonly ServedVersion[],
  publicUrl: string | undefined,
  hosts: readonly string[],
): RequestHandler {
  return (request, response) => {
    const issuer = publicUrl === undefined ? findOrigin(request, hosts) : new URL(publicUrl).origin;
    if (issuer === null) {
      const message = "The service doesn't know its public address. Its operator must set PUBLIC_URL.";
      return refuse(request, response, 404, "BAD_USER_INPUT", message);
    }
    const built = served.filter(({ failure }) => failure() === null);
    const scopes = new Set(built.flatMap(({ current }) => listScopes(current().schema)));
    response.setHeader("cache-control", "no-cache");
    response.json({
      issuer,
      token_endpoint: issuer + tokenPath,
      // There is no authorization endpoint
      response_types_supported: [],
      grant_types_supported: ["client_credentials"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      scopes_supported: [...scopes].sort(),
    });
  };
}

/** Returns the origin in a request's `Host` header; null unless it is this machine or a host name of the service. */
function findOrigin({ protocol, headers, socket }: Request, hosts: readonly string[]): string | null {
  const named = URL.parse(`${protocol}://${headers.host}`);
  const address = socket.localAddress?.replace(/^::ffff:/, "") ?? "";
  const known = [...hosts, "localhost", isIPv6(address) ? `[${address}]` : address];
  return named && known.includes(named.hostname) ? named.origin : null;
}

/** Returns the scopes that fields of a schema require, or that give access to more of their rows. */
const listScopes = memoizeByObject((schema: GraphQLSchema): string[] => {
  const fields = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()));
  return fields.flatMap(({ extensions: { requiresScopes: needed, scopesOfAll } }) => [
    ...(needed?.anyOf ?? []),
    ...(needed?.allOf ?? []),
    ...(scopesOfAll ?? []),
  ]);
});
