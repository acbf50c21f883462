import type {} from "postgraphile";
import type { PgCodec, PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
import type { FieldArgs, GrafastFieldConfig, Step } from "postgraphile/grafast";
import { each, get, inhibitOnNull, sideEffect } from "postgraphile/grafast";
import type { GraphQLInputType, GraphQLObjectType, GraphQLOutputType } from "postgraphile/graphql";
import {
  GraphQLBoolean,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  getNullableType,
} from "postgraphile/graphql";
import { inputEncoder, payloadDecoder, userErrorDecoder } from "./mutation-values.ts";
import { runMutation } from "./run-mutation.ts";
import { tagLines, tagText } from "./tags.ts";

declare global {
  namespace GraphileBuild {
    interface ScopeObjectFieldsField {
      /** The function that the field of the root type Mutation calls. */
      mutationFunction?: PgResource;
    }
    interface ScopeObject {
      /** The function whose payload the type is. */
      payloadOf?: PgResource;
    }
  }
}

/** A function of the version's schema that changes data: `name(input name_input) returns some_payload`. */
interface Mutation {
  resource: PgResource;
  fieldName: string;
  input: PgCodec;
  payload: PgCodec;
  userError: PgCodec;
}

const upperFirst = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const isComposite = (codec: PgCodec, name: RegExp): boolean =>
  codec.extensions?.isTableLike === false && name.test(codec.extensions.pg?.name ?? "");

/** Whether a codec is of a composite type that mutations take. The library makes its GraphQL type. */
const isInput = (codec: PgCodec): boolean => isComposite(codec, /_input$/);

/** Whether a codec is of a composite type that mutations answer. Its GraphQL type is made here. */
const isOutput = (codec: PgCodec): boolean => isComposite(codec, /_payload$|^user_error$/);

function readMutation(build: GraphileBuild.Build, resource: PgResource): Mutation {
  const { name } = resource.extensions!.pg!;
  const [input] = resource.parameters!;
  const userError = resource.codec.attributes?.user_errors?.codec.arrayOfCodec;
  if (input?.name !== "input" || !input.codec.attributes || !userError) {
    throw new Error(
      `The function ${name} is no mutation: it must take a composite \`input\` and answer one with user_errors.`,
    );
  }
  return {
    resource,
    fieldName: build.inflection.camelCase(name),
    input: input.codec,
    payload: resource.codec,
    userError,
  };
}

const known = new WeakMap<GraphileBuild.Build["pgResources"], Mutation[]>();

/** The mutations of a version, each function that isn't stable. */
function mutationsOf(build: GraphileBuild.Build): Mutation[] {
  let mutations = known.get(build.pgResources);
  if (!mutations) {
    const functions = (Object.values(build.pgResources) as PgResource[]).filter(
      ({ isMutation }) => isMutation,
    );
    mutations = functions.map((resource) => readMutation(build, resource));
    known.set(build.pgResources, mutations);
  }
  return mutations;
}

/** What its comment says, and what its tags say: scopes, user errors. */
function describe({ resource }: Mutation): string {
  const codes = [
    ...tagLines(resource, "userErrors").join(" ").split(/\s+/).filter(Boolean),
    "IDEMPOTENCY_KEY_MISMATCH",
  ];
  const scopes = tagLines(resource, "requiresScopes").join(" ");
  return `${resource.description}\n\nScope: ${scopes}. User errors: ${codes.join(", ")}.`;
}

function fieldsOfEveryInput(): Record<
  string,
  { type: GraphQLInputType; defaultValue?: unknown; description: string }
> {
  return {
    idempotencyKey: {
      type: GraphQLString,
      description:
        "Makes the mutation safe to repeat: for 24 hours, the same key with the same input changes nothing more and " +
        "answers the first result. Any text of 1 to 255 characters, a new one for each thing to be done.",
    },
    validateOnly: {
      type: GraphQLBoolean,
      defaultValue: false,
      description: "Only tells by its user errors whether it would have worked. Nothing is changed.",
    },
  };
}

/** The type of a payload's field, and how it is read. */
function payloadField(
  build: GraphileBuild.Build,
  name: string,
  attribute: PgCodecAttribute,
): GrafastFieldConfig<any> & { target?: PgResource } {
  const { codec, description } = attribute;
  const typeName = tagText(attribute, "entity");
  if (!typeName) {
    const element = codec.arrayOfCodec ?? codec;
    const type = (
      isOutput(element)
        ? build.getTypeByName(build.inflection.tableType(element))
        : build.getGraphQLTypeByPgCodec(element, "output")
    ) as GraphQLOutputType;
    return {
      type: codec.arrayOfCodec ? listOf(type) : type,
      description,
      plan: ($payload: Step<any>) => get($payload, name),
    };
  }
  const resources = Object.values(build.pgResources) as PgResource[];
  const target = resources.find(
    ({ parameters, codec }) =>
      !parameters && codec.attributes && build.inflection.tableType(codec) === typeName,
  );
  if (!target) throw new Error(`@entity ${typeName}: there is no such type`);
  const find = ($id: Step) => target.get({ id: $id }) as unknown as Step;
  const type = build.getTypeByName(typeName) as GraphQLObjectType;
  return {
    type: codec.arrayOfCodec ? listOf(type) : type,
    description,
    target,
    plan: ($payload: Step<any>) => {
      const $value: Step = get($payload, name);
      return codec.arrayOfCodec ? each($value as Step<any[]>, find) : find(inhibitOnNull($value));
    },
  };
}

const listOf = (type: GraphQLOutputType) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(getNullableType(type))));

/**
 * Makes mutations of the functions in the version's schema. What they do, who may call them and what they refuse is
 * written in SQL; here their inputs and payloads get GraphQL types, and `mutation.run` is called.
 */
export const MutationsPlugin: GraphileConfig.Plugin = {
  name: "MutationsPlugin",
  description: "Offers the functions of the schema as mutations with an input and a payload with user errors",
  version: "1.0.0",
  inflection: {
    replace: {
      // The composite types are called stock_set_input and so on already; the library then says StockSetInputRecord
      inputType: (previous, _preset, typeName) => previous!(typeName.replace(/InputRecord$/, "")),
    },
  },
  schema: {
    entityBehavior: {
      pgCodec: {
        inferred: {
          after: ["default"],
          provides: ["mutations"],
          callback: (behavior, codec) => (isOutput(codec) ? [behavior, "-table"] : behavior),
        },
      },
      pgResource: {
        inferred: {
          after: ["default"],
          provides: ["mutations"],
          // The library would offer them too, in a shape of its own
          callback: (behavior, { isMutation }) => (isMutation ? [behavior, "-mutationField"] : behavior),
        },
      },
    },
    hooks: {
      init(_, build) {
        const userErrors = new Set(mutationsOf(build).map(({ userError }) => userError));
        for (const codec of userErrors) {
          build.registerObjectType(
            build.inflection.tableType(codec),
            {},
            () => ({ description: codec.description, fields: () => fieldsOf(codec) }),
            "MutationsPlugin user errors",
          );
        }
        const fieldsOf = (codec: PgCodec) =>
          Object.fromEntries(
            Object.entries(codec.attributes!).map(([attributeName, attribute]) => {
              const { codec: type, description, extensions } = attribute;
              const named = build.getGraphQLTypeByPgCodec(
                type.arrayOfCodec ?? type,
                "output",
              ) as GraphQLOutputType;
              const shape = type.arrayOfCodec ? new GraphQLList(new GraphQLNonNull(named)) : named;
              const isRequired = extensions?.tags?.notNull !== undefined;
              const fieldName = build.inflection.attribute({ attributeName, codec: codec as never });
              return [fieldName, { type: isRequired ? new GraphQLNonNull(shape) : shape, description }];
            }),
          );
        for (const mutation of mutationsOf(build)) {
          build.registerObjectType(
            `${upperFirst(mutation.fieldName)}Payload`,
            { payloadOf: mutation.resource },
            () => ({
              description: mutation.payload.description,
              fields: ({ fieldWithHooks }) =>
                Object.fromEntries(
                  Object.entries(mutation.payload.attributes!).map(([name, attribute]) => {
                    const fieldName = build.inflection.camelCase(name);
                    const { target, ...config } = payloadField(build, name, attribute);
                    return [
                      fieldName,
                      fieldWithHooks({ fieldName, ...(target ? { pgFieldResource: target } : {}) }, config),
                    ];
                  }),
                ),
            }),
            "MutationsPlugin payloads",
          );
        }
        return _;
      },
      GraphQLInputObjectType(config, _build, { scope }) {
        if (scope.isInputType && scope.pgCodec && isInput(scope.pgCodec))
          config.description = scope.pgCodec.description;
        return config;
      },
      GraphQLInputObjectType_fields(fields, build, { Self, scope }) {
        const { pgCodec } = scope;
        if (!scope.isInputType || !mutationsOf(build).some(({ input }) => input === pgCodec)) return fields;
        return build.extend(fields, fieldsOfEveryInput(), `Adding what every mutation takes to ${Self.name}`);
      },
      GraphQLInputObjectType_fields_field(field, _build, { scope }) {
        const { pgCodec, pgAttribute } = scope;
        if (pgCodec && isInput(pgCodec) && pgAttribute?.codec.arrayOfCodec) {
          const isRequired = field.type instanceof GraphQLNonNull;
          const { ofType } = getNullableType(field.type) as GraphQLList<GraphQLInputType>;
          const list = new GraphQLList(new GraphQLNonNull(getNullableType(ofType)));
          field.type = isRequired ? new GraphQLNonNull(list) : list;
        }
        return field;
      },
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (!scope.isRootMutation) return fields;
        const added = mutationsOf(build).map((mutation) => {
          const { fieldName, resource } = mutation;
          return [
            fieldName,
            fieldWithHooks({ fieldName, mutationFunction: resource }, () => mutationField(build, mutation)),
          ];
        });
        return build.extend(fields, Object.fromEntries(added), "Adding mutations");
      },
    },
  },
};

function mutationField(build: GraphileBuild.Build, mutation: Mutation): GrafastFieldConfig<any> {
  const { fieldName, resource, input, payload, userError } = mutation;
  const { schemaName: version, name: operation } = resource.extensions!.pg!;
  const encode = inputEncoder(build, input);
  const decode = payloadDecoder(build, payload) as (row: object) => Record<string, unknown>;
  const decodeError = userErrorDecoder(build, userError);
  const empty = Object.fromEntries(
    Object.entries(payload.attributes!).map(([name, { codec }]) => [name, codec.arrayOfCodec ? [] : null]),
  );
  return {
    type: build.getTypeByName(`${upperFirst(fieldName)}Payload`) as GraphQLObjectType,
    args: {
      input: {
        type: new GraphQLNonNull(build.getGraphQLTypeByPgCodec(input, "input") as GraphQLInputType),
        description: "What to do.",
      },
    },
    description: describe(mutation),
    plan: (_$root: Step, args: FieldArgs) =>
      sideEffect([args.getRaw("input"), resource.executor.context()], async ([given, context]) => {
        const { idempotencyKey = null, validateOnly, ...fields } = given as Record<string, unknown>;
        const { withPgClient, pgSettings } = context as any;
        const { payload: row, userErrors } = await runMutation(withPgClient, pgSettings, {
          version: version,
          operation,
          input: encode(fields),
          idempotencyKey: idempotencyKey as string | null,
          validateOnly: validateOnly === true,
        });
        return { ...(row ? decode({ ...empty, ...row }) : empty), user_errors: userErrors.map(decodeError) };
      }),
  };
}
