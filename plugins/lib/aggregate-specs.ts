import type {} from "@graphile/pg-aggregates";
import type { PgCodec, PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
import type { SQL } from "postgraphile/pg-sql2";
import { sql } from "postgraphile/pg-sql2";
import { getOrMake } from "../../src/lib/remembered.ts";
import type { Aggregate, Group, Groups } from "../../src/reads/aggregation.ts";
import { readRequirement } from "../scopes.ts";
import { toExactCodec } from "./text-codecs.ts";
import { tagText, tagWords } from "./tags.ts";
import { fieldNameOf } from "./views.ts";

/** Inflectors of the library that it doesn't declare. */
interface AggregateInflectors {
  aggregateGroupByAttributeEnum(of: { resource: PgResource; attributeName: string }): string;
  aggregateGroupByAttributeDerivativeEnum(of: {
    resource: PgResource;
    attributeName: string;
    aggregateGroupBySpec: GroupSpec;
  }): string;
}

export type Spec = GraphileBuild.Build["pgAggregateSpecs"][number];
export type GroupSpec = GraphileBuild.Build["pgAggregateGroupBySpecs"][number];

/** Returns the columns that a tag of a view names. */
function readColumnTag(codec: PgCodec, tag: "aggregates" | "groupBy"): string[] {
  const columns = tagWords(codec, tag);
  for (const column of columns) {
    const attribute = codec.attributes?.[column];
    if (!attribute) throw new Error(`@${tag} of ${codec.name}: no column ${column}`);
    // An aggregate would reveal its values
    if (readRequirement(attribute))
      throw new Error(`@${tag} of ${codec.name}: ${column} has scopes of its own`);
  }
  return columns;
}

/** Whether aggregates of the rows of a view are offered. */
export const isAggregated = (codec: PgCodec): boolean => tagText(codec, "aggregates") !== undefined;

/** The columns whose values are added up or compared. */
export const aggregatedColumns = (codec: PgCodec): string[] => readColumnTag(codec, "aggregates");

/** The columns that rows are grouped by. */
export const groupColumns = (codec: PgCodec): string[] => readColumnTag(codec, "groupBy");

const isMoment = ({ name }: PgCodec): boolean => name === "dateTime";

const isExact = ({ extensions }: PgCodec): boolean => /^(BigInt|Decimal)$/.test(extensions?.scalar ?? "");
const isNumber = (codec: PgCodec): boolean => codec.extensions?.isNumberLike === true || isExact(codec);

/** Rounds an average, because a quotient may have any number of digits. */
const average = (column: SQL): SQL => sql`round(avg(${column})::numeric,6)`;

/** Adapts the library's aggregates: all take exact numbers too, `min` and `max` also take times. */
export function adaptSpecs(specs: readonly Spec[]): Spec[] {
  const wanted = new Set(["sum", "distinctCount", "min", "max", "average"]);
  return specs
    .filter(({ id }) => wanted.has(id))
    .map((spec) => {
      const { pgTypeCodecModifier } = spec;
      const isOrdered = spec.id === "min" || spec.id === "max";
      return {
        ...spec,
        ...(spec.id === "average" ? { sqlAggregateWrap: average } : {}),
        isSuitableType: (codec) =>
          spec.id === "distinctCount" ||
          isNumber(codec as PgCodec) ||
          (isOrdered && isMoment(codec as PgCodec)),
        ...(pgTypeCodecModifier
          ? {
              pgTypeCodecModifier(codec) {
                const result = pgTypeCodecModifier(codec) as PgCodec;
                const isText = isExact(codec as PgCodec) && spec.id !== "distinctCount";
                return (isText ? toExactCodec(result) : result) as never;
              },
            }
          : {}),
      };
    });
}

/** Groups by hour, day and month of times, in UTC. */
export const groupSpecs: GroupSpec[] = ["hour", "day", "month"].map((part) => ({
  id: `truncated-to-${part}`,
  isSuitableType: (codec) => isMoment(codec as PgCodec),
  sqlWrap: (moment) => sql`date_trunc(${sql.literal(part)},${moment},'UTC')`,
  sqlWrapCodec: (codec) => codec,
}));

const groups = new WeakMap<PgResource, Groups>();

/** Returns the groupings that a view's rows can have, by the values of the enum that the library makes. */
export const readGroups = ({ inflection }: GraphileBuild.Build, resource: PgResource): Groups =>
  getOrMake(groups, resource, () => {
    const names = inflection as unknown as AggregateInflectors;
    const found = new Map<string, Group>();
    for (const column of groupColumns(resource.codec)) {
      const attribute = resource.codec.attributes![column] as PgCodecAttribute;
      const of = { resource, attributeName: column };
      found.set(names.aggregateGroupByAttributeEnum(of), { column, attribute, wrap: (value) => value });
      for (const aggregateGroupBySpec of groupSpecs) {
        if (!aggregateGroupBySpec.isSuitableType(attribute.codec)) continue;
        const name = names.aggregateGroupByAttributeDerivativeEnum({ ...of, aggregateGroupBySpec });
        found.set(name, { column, attribute, wrap: aggregateGroupBySpec.sqlWrap });
      }
    }
    return found;
  });

/** Returns the aggregate that a field shows, by the field's name. */
export function findAggregate(
  build: GraphileBuild.Build,
  { codec }: PgResource,
  spec: Spec,
  fieldName: string,
): Aggregate | undefined {
  const columns = [...aggregatedColumns(codec), ...groupColumns(codec)];
  const column = columns.find((name) => fieldNameOf(build, codec, name) === fieldName);
  if (column === undefined) return undefined;
  const attribute = codec.attributes![column] as PgCodecAttribute;
  const wrap = (value: SQL) => spec.sqlAggregateWrap(value, attribute.codec);
  const result = (spec.pgTypeCodecModifier?.(attribute.codec) ?? attribute.codec) as PgCodec;
  return { column, attribute, wrap, codec: result };
}
