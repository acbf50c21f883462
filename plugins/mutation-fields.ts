import type { PgResource } from "postgraphile/@dataplan/pg";
import type { FieldArgs, GrafastFieldConfig, Step } from "postgraphile/grafast";
import { context, sideEffect } from "postgraphile/grafast";
import type { GraphQLInputType, GraphQLObjectType } from "postgraphile/graphql";
import { GraphQLNonNull } from "postgraphile/graphql";
import type { MutationSource } from "../src/mutations/source.ts";
import { withSource } from "../src/reads/field-source.ts";
import type { Mutation } from "./lib/mutation-functions.ts";
import { describeMutation, isInput, isOutput, mutationsOf } from "./lib/mutation-functions.ts";
import type { CommonInput } from "./lib/mutation-types.ts";
import { makeCommonInputFields, inputFieldType, noteFields, payloadField } from "./lib/mutation-types.ts";
import { makeResultDecoder, makeInputEncoder } from "./lib/mutation-values.ts";
import { runMutation, findSecretColumn, showSecret } from "./lib/run-mutation.ts";
import { tagText } from "./lib/tags.ts";

declare global {
  namespace GraphileBuild {
    interface ScopeObjectFieldsField {
      /** The function that a field of the root type Mutation calls. */
      mutationFunction?: PgResource;
    }
    interface ScopeObject {
      /** The function of this payload type. */
      payloadOf?: PgResource;
    }
  }
}

/**
 * Makes mutations from the functions in the version's schema. SQL defines what they do, who may call them and what they
 * refuse. This plugin gives their inputs and payloads GraphQL types, and calls `mutation.run`.
 */
export const MutationFieldsPlugin: GraphileConfig.Plugin = {
  name: "MutationFieldsPlugin",
  description: "Offers the functions of the schema as mutations with an input and a payload with user errors",
  inflection: {
    replace: {
      // The composite types are already called stock_set_input and so on; the library would say StockSetInputRecord
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
          // The library would offer them too, in another shape
          callback: (behavior, { isMutation }) => (isMutation ? [behavior, "-mutationField"] : behavior),
        },
      },
    },
    hooks: {
      init(_, build) {
        const notes = mutationsOf(build).flatMap(({ userError, warning, result }) =>
          [userError, warning ?? [], result ?? []].flat(),
        );
        for (const codec of new Set(notes)) {
          build.registerObjectType(
            build.inflection.tableType(codec),
            {},
            () => ({ description: codec.description, fields: () => noteFields(build, codec) }),
            "MutationFieldsPlugin user errors, warnings and results",
          );
        }
        for (const { payload, payloadName, resource } of mutationsOf(build)) {
          build.registerObjectType(
            payloadName,
            { payloadOf: resource },
            () => ({
              description: payload.description,
              fields: ({ fieldWithHooks }) =>
                Object.fromEntries(
                  Object.entries(payload.attributes!).map(([name, attribute]) => {
                    const fieldName = build.inflection.camelCase(name);
                    const { config, target } = payloadField(build, name, attribute);
                    const scope = target ? { fieldName, pgFieldResource: target } : { fieldName };
                    return [fieldName, fieldWithHooks(scope, config)];
                  }),
                ),
            }),
            "MutationFieldsPlugin payloads",
          );
        }
        return _;
      },
      GraphQLInputObjectType(config, _build, { scope }) {
        const { isInputType, pgCodec } = scope;
        if (isInputType && pgCodec && isInput(pgCodec)) config.description = pgCodec.description;
        return config;
      },
      GraphQLInputObjectType_fields(fields, build, { Self, scope }) {
        const { isInputType, pgCodec } = scope;
        if (!isInputType || !mutationsOf(build).some(({ input }) => input === pgCodec)) return fields;
        return build.extend(
          fields,
          makeCommonInputFields(),
          `Adding the fields of every input to ${Self.name}`,
        );
      },
      GraphQLInputObjectType_fields_field(field, _build, { scope }) {
        const { pgCodec, pgAttribute } = scope;
        if (pgCodec && isInput(pgCodec) && pgAttribute) field.type = inputFieldType(field.type, pgAttribute);
        return field;
      },
      GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
        if (!scope.isRootMutation) return fields;
        const added = mutationsOf(build).map((mutation) => {
          const { fieldName, resource } = mutation;
          const fieldScope = { fieldName, mutationFunction: resource };
          return [fieldName, fieldWithHooks(fieldScope, () => mutationField(build, mutation))] as const;
        });
        return build.extend(fields, Object.fromEntries(added), "Adding mutations");
      },
    },
  },
};

function mutationField(build: GraphileBuild.Build, mutation: Mutation): GrafastFieldConfig<Step> {
  const { resource, input, payloadName } = mutation;
  const { schemaName: version, name: operation } = resource.extensions!.pg!;
  const encode = makeInputEncoder(build, input);
  const decode = makeResultDecoder(build, mutation);
  const secretColumn = findSecretColumn(mutation);
  const together = tagText(resource, "together");
  const hasSecret = secretColumn !== undefined;
  const source: MutationSource = { version, operation, hasSecret, groupKeyField: together, encode, decode };
  return withSource("mutation", {
    extensions: { mutation: source },
    type: build.getTypeByName(payloadName) as GraphQLObjectType,
    args: {
      input: {
        type: new GraphQLNonNull(build.getGraphQLTypeByPgCodec(input, "input") as GraphQLInputType),
        description: "Input of the mutation.",
      },
    },
    description: describeMutation(mutation),
    plan: (_$root: Step, args: FieldArgs) =>
      sideEffect(
        [args.getRaw("input"), resource.executor.context(), context()],
        async ([given, connection, requestContext]) => {
          const { mutationLog, mutationOutcome } = requestContext;
          const { idempotencyKey = null, validateOnly = false, ...fields } = given as CommonInput;
          if (mutationOutcome && "failure" in mutationOutcome) throw mutationOutcome.failure;
          const secret = secretColumn ? requestContext.newSecret?.() : undefined;
          const call = () => ({ version, operation, input: encode(fields), idempotencyKey, validateOnly });
          const made =
            mutationOutcome?.result ?? (await runMutation(connection, requestContext, call(), secret));
          const result = secretColumn && secret ? showSecret(made, secretColumn, secret) : made;
          if (!result.payload) return decode(result);
          try {
            mutationLog?.noteDone(idempotencyKey);
            return decode(result);
          } catch (error) {
            throw mutationLog?.markUnreadable(error) ?? error;
          }
        },
      ),
  });
}
