import type {} from "postgraphile";
import type {
  PgCodec,
  PgCodecAnyScalar,
  PgCodecAttribute,
  PgRegistry,
  PgResource,
} from "postgraphile/@dataplan/pg";
import { listOfCodec, TYPES } from "postgraphile/@dataplan/pg";
import { encodeGlobalId, requireUuid } from "../src/graphql/global-id.ts";
import { attributesOf, elementOf } from "../src/reads/codecs.ts";
import { tagLines, tagText } from "./lib/tags.ts";

declare global {
  namespace DataplanPg {
    interface PgCodecExtensions {
      /** The GraphQL type, or the name of a kind of object without one, whose global ids the codec reads and writes. */
      globalIdOf?: string;
    }
  }
}

/** A codec for uuid columns whose values are global ids of one type outside SQL. */
function makeGlobalIdCodec(typeName: string): PgCodec {
  const { sqlType, castFromPg } = TYPES.uuid;
  return {
    name: `globalIdOf${typeName}`,
    sqlType,
    ...(castFromPg ? { castFromPg } : {}),
    fromPg: (uuid: string) => encodeGlobalId(typeName, uuid),
    toPg: (id: string) => requireUuid(typeName, id),
    attributes: undefined,
    executor: null,
    hasNaturalEquality: true,
    hasNaturalOrdering: true,
    extensions: { globalIdOf: typeName },
  };
}

/**
 * Turns uuid columns into ids: primary keys, foreign keys, and those with the tag @gid (`@gid StockContainer` on the
 * column, or `@gid stock_container_id StockContainer` on the view). A column may hold a list of them.
 *
 * The columns get another codec, so that fields, filters, `node` and arguments of functions all convert uuids in one
 * place.
 */
export const IdColumnsPlugin: GraphileConfig.Plugin = {
  name: "IdColumnsPlugin",
  description: "Shows primary keys, foreign keys and columns with the tag @gid as global ids",
  version: "1.0.0",
  gather: {
    hooks: {
      pgRegistry_PgRegistry(info, event) {
        const { pgCodecs, pgRelations, pgResources } = event.registry as PgRegistry;
        const codecs = new Map<string, PgCodec>();
        const primaryKeys = new Set<PgCodecAttribute>();
        const become = (owner: PgCodec, attributeName: string, typeName: string) => {
          const attribute: PgCodecAttribute | undefined = owner.attributes?.[attributeName];
          if (!attribute) throw new Error(`@gid: ${owner.name} has no column ${attributeName}`);
          const column = `${owner.name}.${attributeName}`;
          const listed = elementOf(attribute.codec);
          const element = listed ?? attribute.codec;
          const known = element.extensions?.globalIdOf;
          // A primary key may be a foreign key too; it stays the id of its own row.
          if (known === typeName || primaryKeys.has(attribute)) return;
          if (known) throw new Error(`${column} can't be the id of a ${known} and of a ${typeName}`);
          if (element !== TYPES.uuid) throw new Error(`${column} is an id but no uuid`);
          let codec = codecs.get(typeName);
          if (!codec) codecs.set(typeName, (codec = makeGlobalIdCodec(typeName)));
          attribute.codec = listed ? listOfCodec(codec as PgCodecAnyScalar) : codec;
        };

        for (const resource of Object.values(pgResources) as PgResource[]) {
          const key = resource.uniques?.find((unique) => unique.isPrimary);
          if (resource.parameters || key?.attributes.length !== 1) continue;
          become(resource.codec, key.attributes[0]!, info.inflection.tableType(resource.codec));
          primaryKeys.add(resource.codec.attributes![key.attributes[0]!]!);
        }
        for (const [codecName, relations] of Object.entries(pgRelations)) {
          for (const relation of Object.values(relations ?? {})) {
            if (relation.isReferencee || relation.localAttributes.length !== 1) continue;
            const target = info.inflection.tableType((relation.remoteResource as PgResource).codec);
            become(pgCodecs[codecName] as PgCodec, relation.localAttributes[0]!, target);
          }
        }
        for (const codec of Object.values<PgCodec>(pgCodecs)) {
          for (const line of tagLines(codec, "gid")) {
            const [attributeName, typeName] = line.split(/\s+/);
            become(codec, attributeName!, typeName!);
          }
          for (const [attributeName, attribute] of attributesOf(codec)) {
            const typeName = tagText(attribute, "gid");
            if (typeName) become(codec, attributeName, typeName);
          }
        }
      },
    },
  },
  schema: {
    hooks: {
      init: {
        before: ["PgCodecs"],
        callback(_, build) {
          for (const codec of build.allPgCodecs) {
            if (codec.extensions?.globalIdOf)
              build.setGraphQLTypeForPgCodec(codec, ["input", "output"], "ID");
          }
          return _;
        },
      },
    },
  },
};
