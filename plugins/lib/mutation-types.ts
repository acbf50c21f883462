import type { PgCodec, PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
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
import type { PayloadBound } from "../../src/graphql/page-size.ts";
import { defaultBound } from "../../src/graphql/page-size.ts";
import { listAttributes, getElementCodec } from "../../src/reads/codecs.ts";
import type { FieldSource } from "../../src/reads/field-source.ts";
import { withSource } from "../../src/reads/field-source.ts";
import { findGraphQLType } from "./types.ts";
import { findByKey } from "./view-keys.ts";
import { hasTag, tagLines, tagText } from "./tags.ts";
import { fieldNameOf, findKeyedView, findViewByType } from "./views.ts";

const makeListType = (type: GraphQLOutputType) =>
  new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(getNullableType(type))));

/** Fields that every input has in addition to its composite type's. Null differs from an omitted field. */
export interface CommonInput {
  idempotencyKey?: string | null;
  validateOnly?: boolean | null;
  [field: string]: unknown;
}

/** Returns the GraphQL fields that every input has in addition to its composite type's. */
export function makeCommonInputFields() {
  return {
    idempotencyKey: {
      type: GraphQLString,
      description:
        "Makes the mutation safe to repeat: for 24 hours, the same key with the same input changes nothing more and " +
        "returns the first result. Any text of 1 to 255 characters; use a new key for each new change.",
    },
    validateOnly: {
      type: GraphQLBoolean,
      defaultValue: false,
      description:
        "Only checks the input: user errors say whether the mutation would work. Nothing is changed.",
    },
  };
}

/** Returns the type of an input field: lists have no null elements, and a scanned code is a text (tag @gs1). */
export function inputFieldType(type: GraphQLInputType, attribute: PgCodecAttribute): GraphQLInputType {
  if (hasTag(attribute, "gs1"))
    return type instanceof GraphQLNonNull ? new GraphQLNonNull(GraphQLString) : GraphQLString;
  if (!attribute.codec.arrayOfCodec) return type;
  const { ofType } = getNullableType(type) as GraphQLList<GraphQLInputType>;
  const list = new GraphQLList(new GraphQLNonNull(getNullableType(ofType)));
  return type instanceof GraphQLNonNull ? new GraphQLNonNull(list) : list;
}

/** Returns the fields of the GraphQL types of user errors, warnings and results of upserts. */
export function noteFields(build: GraphileBuild.Build, codec: PgCodec) {
  const fields = listAttributes(codec).map(([attributeName, attribute]) => {
    const type = findGraphQLType(build, attribute.codec, "output") as GraphQLOutputType;
    const config = {
      type: hasTag(attribute, "notNull") ? new GraphQLNonNull(type) : type,
      description: attribute.description,
    };
    return [fieldNameOf(build, codec, attributeName), config] as const;
  });
  return Object.fromEntries(fields);
}

/** Returns a field of a payload, and the view of its rows if the tag @entity says that the column holds ids. */
export function payloadField(
  build: GraphileBuild.Build,
  name: string,
  attribute: PgCodecAttribute,
): { config: GrafastFieldConfig<Step>; target: PgResource | undefined } {
  const { codec, description } = attribute;
  const entity = tagText(attribute, "entity");
  const target = entity === undefined ? undefined : findTarget(build, entity);
  const isList = codec.arrayOfCodec !== undefined;
  const type = (
    entity === undefined
      ? findGraphQLType(build, getElementCodec(codec) ?? codec, "output")
      : build.getTypeByName(entity)
  ) as GraphQLOutputType;
  return {
    target,
    config: withSource(payloadSource(build, name, target, isList), {
      type: isList ? makeListType(type) : type,
      description,
      ...(isList && target
        ? { extensions: { payloadBound: payloadBound(attribute, build.inflection.camelCase) } }
        : {}),
      plan($payload: Step) {
        const $value: Step = get($payload, name);
        if (!target) return $value;
        return isList ? findRows(target, $value) : findRow(target, $value);
      },
    }),
  };
}

function payloadSource(
  build: GraphileBuild.Build,
  name: string,
  target: PgResource | undefined,
  isList: boolean,
): FieldSource | undefined {
  if (!target) return { kind: "value", name };
  const rows = findKeyedView(build, target.codec);
  return rows?.resource === target ? { kind: "entity", name, rows, isList } : undefined;
}

/** Finds the row with this id, whatever columns the ids of its type are made of. */
const findRow = (target: PgResource, $id: Step): Step =>
  target.codec.attributes!.id!.expression ? findByKey(target, $id) : target.get({ id: inhibitOnNull($id) });

/** Finds the rows with these ids, in the order of the ids. Deleted rows, and rows that the caller can't see, are left out. */
function findRows(target: PgResource, $ids: Step): Step {
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
  const target = findViewByType(build, typeName);
  if (!target) throw new Error(`@entity ${typeName}: there is no such type`);
  return target;
}

/**
 * Reads the maximum number of rows from the tags of a payload's column: `@atMost 500`, and `@perLine lines 2` for two rows
 * per element of the input's `lines`. If both are there, they are added up.
 */
function payloadBound(attribute: PgCodecAttribute, fieldName: (column: string) => string): PayloadBound {
  const perLine = new Map(
    tagLines(attribute, "perLine").map((line) => {
      const [column = "", rows = "1"] = line.split(/\s+/);
      return [fieldName(column), parseRowCount("perLine", rows)] as const;
    }),
  );
  const atMost = tagText(attribute, "atMost");
  if (atMost === undefined) return perLine.size > 0 ? { atMost: 0, perLine } : defaultBound;
  return { atMost: parseRowCount("atMost", atMost), perLine };
}

function parseRowCount(tag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new Error(`@${tag} ${text}: that is not a number of rows`);
  return Number(text);
}
