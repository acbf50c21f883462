import type { PgCodec, PgResource } from "postgraphile/@dataplan/pg";
import { getOrMake } from "../../src/lib/remembered.ts";
import { getElementCodec } from "../../src/reads/codecs.ts";
import { tagLines, tagWords } from "./tags.ts";

/** A function of the version's schema that changes data: `name(input name_input) returns some_payload`. */
export interface Mutation {
  resource: PgResource;
  fieldName: string;
  payloadName: string;
  input: PgCodec;
  payload: PgCodec;
  userError: PgCodec;
  /** The type of warnings, in payloads that can have them. */
  warning: PgCodec | undefined;
  /** The type of a row's result, in payloads of upserts. */
  result: PgCodec | undefined;
}

const isComposite = (codec: PgCodec, name: RegExp): boolean =>
  codec.extensions?.isTableLike === false && name.test(codec.extensions.pg?.name ?? "");

/** Whether a codec belongs to a mutation's input. The library makes its GraphQL type. */
export const isInput = (codec: PgCodec): boolean => isComposite(codec, /_input$/);

/** Whether a codec belongs to a mutation's payload. mutation-types.ts makes its GraphQL type. */
export const isOutput = (codec: PgCodec): boolean =>
  isComposite(codec, /_(payload|result)$|^user_error$|^warning$/);

function readMutation({ inflection }: GraphileBuild.Build, resource: PgResource): Mutation {
  const { name } = resource.extensions!.pg!;
  const [input] = resource.parameters!;
  const { attributes } = resource.codec;
  const userError = attributes?.user_errors && getElementCodec(attributes.user_errors.codec);
  if (input?.name !== "input" || !input.codec.attributes || !userError) {
    throw new Error(
      `The function ${name} is not a mutation: it must take a composite \`input\` and return one with user_errors.`,
    );
  }
  return {
    resource,
    fieldName: inflection.camelCase(name),
    payloadName: inflection.upperCamelCase(`${name}_payload`),
    input: input.codec,
    payload: resource.codec,
    userError,
    warning: attributes.warnings && getElementCodec(attributes.warnings.codec),
    result: attributes.results && getElementCodec(attributes.results.codec),
  };
}

const mutationsByResources = new WeakMap<GraphileBuild.Build["pgResources"], Mutation[]>();

/**
 * Returns the mutations of a version: each function of its schema that isn't stable.
 *
 * @throws when one doesn't have the shape of a mutation
 */
export const mutationsOf = (build: GraphileBuild.Build): Mutation[] =>
  getOrMake(mutationsByResources, build.pgResources, (resources) =>
    (Object.values(resources) as PgResource[]).flatMap((resource) =>
      resource.isMutation ? readMutation(build, resource) : [],
    ),
  );

/** Returns the function's description, with its scopes, user errors and warnings from the tags. */
export function describeMutation({ resource }: Mutation): string {
  const scopes = tagLines(resource, "requiresScopes").join(" ");
  const userErrors = [...tagWords(resource, "userErrors"), "IDEMPOTENCY_KEY_MISMATCH"].join(", ");
  const warnings = tagWords(resource, "warnings").join(", ");
  return (
    `${resource.description}\n\nScope: ${scopes}. User errors: ${userErrors}.` +
    (warnings ? ` Warnings: ${warnings}.` : "")
  );
}
