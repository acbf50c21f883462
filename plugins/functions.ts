import type { PgCodec, PgResource, PgSelectArgumentSpec } from "postgraphile/@dataplan/pg";
import { pgFromExpression, pgSelect, sqlFromArgDigests, TYPES } from "postgraphile/@dataplan/pg";
import type { FieldArgs, GrafastFieldConfig, Step } from "postgraphile/grafast";
import { access, connection, lambda, operationPlan } from "postgraphile/grafast";
import type { GraphQLInputType, GraphQLOutputType } from "postgraphile/graphql";
import { GraphQLNonNull } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import { splitGlobalId } from "../src/graphql/global-id.ts";
import { readKey } from "../src/graphql/key-forms.ts";
import type { FieldSource } from "../src/reads/field-source.ts";
import { withSource } from "../src/reads/field-source.ts";
import { buildPresentCondition, readArgument } from "../src/reads/function-call.ts";
import { buildKeyColumns, parameterType } from "../src/reads/keys.ts";
import { primaryKeyOf } from "./lib/view-keys.ts";
import type { RowStep } from "./lib/list-page.ts";
import type { ReadFunction } from "./lib/read-functions.ts";
import { listReadFunctions } from "./lib/read-functions.ts";
import { hasTag } from "./lib/tags.ts";
import { findGraphQLType } from "./lib/types.ts";

declare global {
  namespace GraphileBuild {
    interface ScopeObjectFieldsField {
      /** The stable function that the field calls. */
      readFunction?: ReadFunction;
    }
  }
}

/**
 * Offers stable functions as fields: at the root, or of the row that they take. They return a value of a row by arguments,
 * `seed_packets_price(packet seed_packets, percent integer)`; a list of a view's rows, `returns setof seed_packets`; or one
 * row of a view or composite type. A function that takes only a row, and returns a value, is a column (computed-columns.ts).
 */
export const FunctionsPlugin: GraphileConfig.Plugin = {
  name: "FunctionsPlugin",
  description: "Offers stable functions with arguments as fields, and functions that return rows as lists",
  schema: {
    hooks: {
      GraphQLObjectType_fields(fields, build, { Self, scope, fieldWithHooks }) {
        const { isRootQuery, isPgClassType, pgCodec } = scope;
        const isOfType = ({ owner }: ReadFunction) =>
          owner ? isPgClassType && owner.codec === pgCodec : isRootQuery;
        return listReadFunctions(build)
          .filter(isOfType)
          .reduce((before, offered) => {
            const { fieldName, rows, resource, resultKind: makes } = offered;
            const ofRows = rows ? { isPgFieldConnection: makes === "list", pgFieldResource: rows } : {};
            const field = fieldWithHooks({ fieldName, readFunction: offered, ...ofRows }, () =>
              makes === "value" ? valueField(build, offered) : rowsField(build, offered),
            );
            const { schemaName, name } = resource.extensions!.pg!;
            const purpose = `Adding the function ${schemaName}.${name} to ${Self.name}`;
            return build.extend(before, { [fieldName]: field }, purpose);
          }, fields);
      },
    },
  },
};

function makeArguments(build: GraphileBuild.Build, { call, required }: ReadFunction) {
  const config = call.arguments.map(({ fieldName, name, codec }) => {
    const type = findGraphQLType(build, codec, "input") as GraphQLInputType;
    return [fieldName, { type: required.has(name) ? new GraphQLNonNull(type) : type }] as const;
  });
  return Object.fromEntries(config);
}

/** Plans the checked values of arguments. Omitted ones are undefined, and get their defaults in SQL. */
function planArgumentValues({ call }: ReadFunction, args: FieldArgs): PgSelectArgumentSpec[] {
  return call.arguments.map((argument) => {
    const { fieldName, name, codec } = argument;
    const check = (value: unknown) => {
      readArgument(argument, value);
      return value;
    };
    // Once per operation, because only there it is known whether the value was given
    const step = operationPlan().withRootLayerPlan(() => lambda(args.getRaw(fieldName), check));
    return { step, pgCodec: codec, name };
  });
}

const listParameters = ({ call }: ReadFunction) =>
  call.arguments.map(({ name, codec }) => ({ name, codec, optional: true }));

const unnamedParameter = (codec: PgCodec) => ({ name: "", codec });

function valueField(build: GraphileBuild.Build, offered: ReadFunction): GrafastFieldConfig<Step> {
  const { resource, codec, owner } = offered;
  const type = findGraphQLType(build, codec, "output") as GraphQLOutputType;
  const parameters = [unnamedParameter(owner!.codec), ...listParameters(offered)];
  const source: FieldSource = { kind: "function", call: offered.call, codec };
  return withSource(source, {
    type: hasTag(resource, "notNull") ? new GraphQLNonNull(type) : type,
    args: makeArguments(build, offered),
    plan($parent: Step, args: FieldArgs) {
      const $row = $parent as RowStep;
      const row = { placeholder: $row.getClassStep().alias };
      const called = pgFromExpression($row, resource.from, parameters, [
        row,
        ...planArgumentValues(offered, args),
      ]);
      return $row.select(called, codec);
    },
  });
}

/** Makes the field of a function that returns rows, or one row. ConnectionsPlugin declares the source of lists. */
function rowsField(build: GraphileBuild.Build, offered: ReadFunction): GrafastFieldConfig<Step> {
  const { resource, owner, call, codec, resultKind: makes, rows, notNullColumn: present } = offered;
  const isList = makes === "list";
  const type = build.getOutputTypeByName(
    isList ? build.inflection.tableConnectionType(codec) : build.inflection.tableType(codec),
  );
  const ofRow = owner && makeCallWithRow(offered, owner);
  return withSource(isList ? undefined : { kind: "returned", call, present }, {
    type: !rows && hasTag(resource, "notNull") ? new GraphQLNonNull(type) : type,
    args: makeArguments(build, offered),
    plan($parent: Step, args: FieldArgs) {
      const $rows = pgSelect({
        resource: rows ?? resource,
        identifiers: [],
        joinAsLateral: true,
        ...(ofRow
          ? {
              ...ofRow,
              args: [...planKeyValues(owner, $parent as RowStep), ...planArgumentValues(offered, args)],
            }
          : {
              from: resource.from,
              parameters: listParameters(offered),
              args: planArgumentValues(offered, args),
            }),
      });
      if (isList) return connection($rows);
      $rows.where(buildPresentCondition(present, $rows.alias));
      return $rows.single();
    },
  });
}

/** Plans the values of a row's key, as texts. */
function planKeyValues(owner: PgResource, $row: RowStep): PgSelectArgumentSpec[] {
  const key = primaryKeyOf(owner)!;
  const $values = lambda($row.get("id"), (id) => {
    const own = splitGlobalId(id)?.key;
    return own === undefined ? [] : readKey(key, own);
  });
  return key.map((_column, index) => ({ step: access($values, [index]), pgCodec: TYPES.text, name: "" }));
}

/** Finds the row by its key and passes it to the function. The library would pass the text of the whole row. */
function makeCallWithRow(offered: ReadFunction, owner: PgResource) {
  const key = primaryKeyOf(owner)!;
  const { name } = offered.call;
  return {
    parameters: [...key.map(() => unnamedParameter(TYPES.text)), ...listParameters(offered)],
    from(...digests: Parameters<typeof sqlFromArgDigests>[0]) {
      const [row, found] = [sql.identifier(Symbol("row")), sql.identifier(Symbol("found"))];
      const called = sqlFromArgDigests([{ placeholder: row, position: 0 }, ...digests.slice(key.length)]);
      const matches = buildKeyColumns(key, row).map(
        (column, index) => sql`${column} = ${digests[index]!.placeholder}::${parameterType(key[index]!)}`,
      );
      return sql`(select ${found}.* from ${owner.from as typeof name} ${row} cross join lateral ${name}(${called}) ${found}
        where ${sql.join(matches, " and ")})`;
    },
  };
}
