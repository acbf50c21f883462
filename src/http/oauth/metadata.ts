import type { RequestHandler } from "express";
import type { GraphQLSchema } from "postgraphile/graphql";
import { isObjectType } from "postgraphile/graphql";
import type { ServedVersion } from "../../versions/serve-version.ts";

/** Where clients look for the metadata (RFC 8414). */
export const metadataPath = "/.well-known/oauth-authorization-server";
/** Where clients get tokens. */
export const tokenPath = "/api/oauth/token";

/** `GET /.well-known/oauth-authorization-server`: what OAuth clients need to know about the token endpoint. */
export function metadata(served: readonly ServedVersion[], publicUrl: string | undefined): RequestHandler {
  const known = new WeakMap<GraphQLSchema, readonly string[]>();
  const scopesOf = (schema: GraphQLSchema) => {
    let scopes = known.get(schema);
    if (!scopes) known.set(schema, (scopes = scopesIn(schema)));
    return scopes;
  };
  return (request, response) => {
    const issuer =
      publicUrl === undefined ? `${request.protocol}://${request.get("host")}` : new URL(publicUrl).origin;
    const built = served.filter(({ failure }) => failure() === null);
    const scopes = new Set(built.flatMap(({ current }) => scopesOf(current().schema)));
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

/** The scopes that fields of a schema require. */
function scopesIn(schema: GraphQLSchema): string[] {
  const fields = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()));
  return fields.flatMap(({ extensions: { requiresScopes: needed } }) => [
    ...(needed?.anyOf ?? []),
    ...(needed?.allOf ?? []),
  ]);
}
