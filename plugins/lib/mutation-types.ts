import type {} from "postgraphile";
import type { PgCodec, PgCodecAttribute, PgCodecWithAttributes, PgResource } from "postgraphile/@dataplan/pg";
import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import type { GrafastFieldConfig, Step } from "postgraphile/grafast";
import { get, inhibitOnNull } from "postgraphile/grafast";
import type { GraphQLInputType, GraphQLOutputType } from "postgraphile/graphql";
import {
  getNullableType,
  GraphQLBoolean,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import { attributesOf, elementOf } from "../../src/reads/codecs.ts";
import { isOutput } from "./mutation-functions.ts";
import { findByKey } from "./keys.ts";
import { payloadBound } from "./payload-bounds.ts";
import { hasTag, tagText } from "./tags.ts";

const listOf = (type: GraphQLOutputType) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(getNullableType(type))));

/** Fields that every input has beside those of its composite type. Null differs from left out. */
export interface EveryInput {
  idempotencyKey?: string | null;
  validateOnly?: boolean | null;
  [field: string]: unknown;
}

/** The fields that every input has beside those of its composite type. */
export function fieldsOfEveryInput() {
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

/** The type of an input field: lists have no null elements. */
export function inputFieldType(type: GraphQLInputType, { codec }: PgCodecAttribute): GraphQLInputType {
  if (!codec.arrayOfCodec) return type;
  const { ofType } = getNullableType(type) as GraphQLList<GraphQLInputType>;
  const list = new GraphQLList(new GraphQLNonNull(getNullableType(ofType)));
  return type instanceof GraphQLNonNull ? new GraphQLNonNull(list) : list;
}

/** The fields of the GraphQL types of user errors, of warnings, and of what becomes of the rows of an upsert. */
export function noteFields(build: GraphileBuild.Build, codec: PgCodec) {
  const fields = attributesOf(codec).map(([attributeName, attribute]) => {
    const { codec: column, description } = attribute;
    const element = elementOf(column);
    const named = (
      element && isOutput(element)
        ? build.getTypeByName(build.inflection.tableType(element))
        : build.getGraphQLTypeByPgCodec(element ?? column, "output")
    ) as GraphQLOutputType;
    const type = element ? new GraphQLList(new GraphQLNonNull(named)) : named;
    const fieldName = build.inflection.attribute({ attributeName, codec: codec as PgCodecWithAttributes });
    const config = { type: hasTag(attribute, "notNull") ? new GraphQLNonNull(type) : type, description };
    return [fieldName, config] as const;
  });
  return Object.fromEntries(fields);
}

/** A field of a payload, and the view of its rows if the tag @entity says that the column holds ids. */
export function payloadField(
  build: GraphileBuild.Build,
  name: string,
  attribute: PgCodecAttribute,
): { config: GrafastFieldConfig<Step>; target: PgResource | undefined } {
  const { codec, description } = attribute;
  const entity = tagText(attribute, "entity");
  const target = entity === undefined ? undefined : findTarget(build, entity);
  const element = elementOf(codec) ?? codec;
  const typeName = isOutput(element) ? build.inflection.tableType(element) : entity;
  const type = (
    typeName ? build.getTypeByName(typeName) : build.getGraphQLTypeByPgCodec(element, "output")
  ) as GraphQLOutputType;
  return {
    target,
    config: {
      type: codec.arrayOfCodec ? listOf(type) : type,
      description,
      ...(codec.arrayOfCodec && target
        ? { extensions: { payloadBound: payloadBound(attribute, build.inflection.camelCase) } }
        : {}),
      plan($payload: Step) {
        const $value: Step = get($payload, name);
        if (!target) return $value;
        return codec.arrayOfCodec ? findThoseThere(target, $value) : findRow(target, $value);
      },
    },
  };
}

/** The row with this id, which is whatever the ids of its type are made of. */
const findRow = (target: PgResource, $id: Step): Step =>
  target.codec.attributes!.id!.expression ? findByKey(target, $id) : target.get({ id: inhibitOnNull($id) });

/** The rows with these ids, in the order of the ids. An id whose row is gone by now, or out of sight, has none. */
function findThoseThere(target: PgResource, $ids: Step): Step {
  const { codec, expression } = target.codec.attributes!.id!;
  const $rows = target.find();
  const wanted = $rows.placeholder($ids, listOfCodec(codec as typeof TYPES.uuid));
  const id = expression ? expression($rows.alias) : sql`${$rows.alias}.${sql.identifier("id")}`;
  $rows.where(sql`${id} = any (${wanted})`);
  $rows.orderBy({ fragment: sql`array_position(${wanted}, ${id})`, codec: TYPES.int, direction: "ASC" });
  $rows.setOrderIsUnique();
  return $rows.items();
}

function findTarget(build: GraphileBuild.Build, typeName: string): PgResource {
  const target = (Object.values(build.pgResources) as PgResource[]).find(
    ({ parameters, codec }) =>
      !parameters && codec.attributes && build.inflection.tableType(codec) === typeName,
  );
  if (!target) throw new Error(`@entity ${typeName}: there is no such type`);
  return target;
}
