import type { PgCodec, PgCodecWithAttributes, PgRegistry } from "postgraphile/@dataplan/pg";
import { isEnumCodec } from "postgraphile/@dataplan/pg";
import { listAttributes } from "../src/reads/codecs.ts";
import { hasTag } from "./lib/tags.ts";
import { fieldNameOf, listViews } from "./lib/views.ts";

/** Names in use, with the thing that has each. */
class UsedNames {
  readonly #known = new Map<string, string>();
  readonly #prefix: string;

  /** @param of prefix for messages: the type of the fields, or nothing for names of types */
  constructor(of = "") {
    this.#prefix = of;
  }

  add(name: string, thing: string): void {
    const other = this.#known.get(name);
    if (other !== undefined && other !== thing)
      throw new Error(`Two things would have the name ${this.#prefix}${name}: ${other}, and ${thing}`);
    this.#known.set(name, thing);
  }
}

const sqlName = ({ name, extensions }: PgCodec): string =>
  extensions?.pg ? `${extensions.pg.schemaName}.${extensions.pg.name}` : name;

/** Refuses two things with the same name. The message has their names in SQL, which the library's error lacks. */
export const ClashesPlugin: GraphileConfig.Plugin = {
  name: "ClashesPlugin",
  description: "Reports views, enums, columns and relations that would have the same name",
  schema: {
    hooks: {
      init: {
        before: ["PgCodecs", "PgTablesPlugin", "FiltersPlugin", "EnumColumnsPlugin"],
        callback(_, build) {
          const types = new UsedNames();
          for (const { codec, uniques } of listViews(build)) {
            if (uniques.length === 0) continue;
            const name = build.inflection.tableType(codec);
            types.add(name, `the view ${sqlName(codec)}`);
            types.add(`${name}FilterInput`, `the filter of the view ${sqlName(codec)}`);
            addFields(build, codec, new UsedNames(`${name}.`));
          }
          for (const codec of build.allPgCodecs)
            if (isEnumCodec(codec)) types.add(build.inflection.enumType(codec), `the enum ${sqlName(codec)}`);
          return _;
        },
      },
    },
  },
};

function addFields(
  { inflection, input, behavior }: GraphileBuild.Build,
  codec: PgCodec,
  names: UsedNames,
): void {
  const registry: PgRegistry = input.pgRegistry;
  const owner = codec as PgCodecWithAttributes;
  for (const [attributeName] of listAttributes(codec))
    if (behavior.pgCodecAttributeMatches([owner, attributeName], "attribute:select"))
      names.add(
        fieldNameOf({ inflection }, codec, attributeName),
        `the column ${sqlName(codec)}.${attributeName}`,
      );
  for (const [relationName, relation] of Object.entries(registry.pgRelations[codec.name] ?? {})) {
    const { isReferencee, isUnique, remoteAttributes, localAttributes } = relation;
    const remote = sqlName(relation.remoteResource.codec as PgCodec);
    const details = { registry, codec: owner, relationName };
    if (!isReferencee)
      names.add(
        inflection.singleRelation(details),
        `the relation by (${localAttributes.join()}) to ${remote}`,
      );
    else if (hasTag(relation, "foreignFieldName") || hasTag(relation, "foreignSingleFieldName"))
      names.add(
        isUnique ? inflection.singleRelationBackwards(details) : inflection.manyRelationConnection(details),
        `the relation back from ${remote} (${remoteAttributes.join()})`,
      );
  }
  for (const [identifier, { definition }] of Object.entries(codec.refs ?? {}))
    names.add(
      definition.singular
        ? inflection.refSingle({ refDefinition: definition, identifier })
        : inflection.refConnection({ refDefinition: definition, identifier }),
      `the @ref ${identifier} of ${sqlName(codec)}`,
    );
}
