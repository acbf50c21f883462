import type { PgCodec, PgCodecAttribute, PgRegistry, PgResource } from "postgraphile/@dataplan/pg";
import { listAttributes, getElementCodec } from "../src/reads/codecs.ts";
import { addIdColumn, primaryKeyOf, makeGlobalIdCodec } from "./lib/view-keys.ts";
import { tagLines, tagText } from "./lib/tags.ts";
import { mapElementCodec } from "./lib/text-codecs.ts";
import { listViews } from "./lib/views.ts";

/**
 * Makes global ids of columns: of primary keys called `id`, foreign keys to one, and columns with the tag @gid, which may
 * be lists. The tag is `@gid StockContainer` on the column, or `@gid stock_container_id StockContainer` on the view. The
 * line `@gid supplier_id Supplier` in a function's comment does the same to an argument. If a view's key has another name,
 * or several columns, the view gets a field `id` in addition.
 *
 * The columns get another codec, so one place turns keys into global ids and back: for fields, filters, `node` and arguments.
 */
export const IdColumnsPlugin: GraphileConfig.Plugin = {
  name: "IdColumnsPlugin",
  description: "Shows primary keys, foreign keys and columns with the tag @gid as global ids",
  gather: {
    hooks: {
      pgRegistry_PgRegistry(info, event) {
        const nameOf = (codec: PgCodec) => info.inflection.tableType(codec);
        new IdColumns(event.registry as PgRegistry, nameOf).make();
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

/** Makes the id columns of one version. */
class IdColumns {
  readonly #registry: PgRegistry;
  readonly #typeNameOf: (codec: PgCodec) => string;
  readonly #codecs = new Map<string, PgCodec>();
  readonly #primaryKeys = new Set<PgCodecAttribute>();
  /** Views that have a key, by type name. */
  readonly #views = new Map<string, PgResource>();

  constructor(registry: PgRegistry, nameOf: (codec: PgCodec) => string) {
    this.#registry = registry;
    this.#typeNameOf = nameOf;
    for (const resource of listViews(registry as Pick<GraphileBuild.Build, "pgResources">))
      if (primaryKeyOf(resource)) this.#views.set(nameOf(resource.codec), resource);
  }

  make(): void {
    for (const [typeName, resource] of this.#views) this.#makeId(typeName, resource);
    this.#makeForeignKeys();
    this.#makeTagged();
    this.#makeArguments();
  }

  #makeId(typeName: string, resource: PgResource): void {
    const { codec } = resource;
    const key = primaryKeyOf(resource)!;
    if (key.length === 1 && key[0].name === "id") {
      if (key[0].isComparedAsText)
        throw new Error(`${codec.name}.id: a key of the type ${key[0].typeName} must have another name`);
      this.#makeIdColumn(codec, "id", typeName);
      this.#primaryKeys.add(codec.attributes!.id as PgCodecAttribute);
    } else {
      addIdColumn(resource, key, this.#findCodec(typeName, `${codec.name}.id`));
    }
  }

  #makeForeignKeys(): void {
    for (const [codecName, relations] of Object.entries(this.#registry.pgRelations)) {
      for (const relation of Object.values(relations ?? {})) {
        const { isReferencee, localAttributes, remoteAttributes } = relation;
        const target = relation.remoteResource as PgResource;
        const remote = target.codec.attributes?.[remoteAttributes[0]!];
        if (isReferencee || localAttributes.length !== 1 || !remote || !this.#primaryKeys.has(remote))
          continue;
        const owner = this.#registry.pgCodecs[codecName] as PgCodec;
        this.#makeIdColumn(owner, localAttributes[0]!, this.#typeNameOf(target.codec));
      }
    }
  }

  /** Makes ids of the columns that tags name. */
  #makeTagged(): void {
    for (const codec of Object.values<PgCodec>(this.#registry.pgCodecs)) {
      for (const line of tagLines(codec, "gid")) {
        const [attributeName, typeName] = line.split(/\s+/);
        this.#makeIdColumn(codec, attributeName!, typeName!);
      }
      for (const [attributeName, attribute] of listAttributes(codec)) {
        const typeName = tagText(attribute, "gid");
        if (typeName) this.#makeIdColumn(codec, attributeName, typeName);
      }
    }
  }

  /** Makes ids of functions' arguments, by lines `@gid supplier_id Supplier` of their comments. */
  #makeArguments(): void {
    for (const resource of Object.values(this.#registry.pgResources) as PgResource[]) {
      if (!resource.parameters || resource.isMutation) continue;
      for (const line of tagLines(resource, "gid")) {
        const [name, typeName] = line.split(/\s+/);
        const parameter = resource.parameters.find((one) => one.name === name);
        if (typeName === undefined) continue;
        if (!parameter) throw new Error(`@gid: the function ${resource.name} has no argument ${name}`);
        (parameter as { codec: PgCodec }).codec = mapElementCodec(parameter.codec, (held) =>
          this.#findCodec(typeName, `${resource.name}(${name})`, held),
        );
      }
    }
  }

  #makeIdColumn(owner: PgCodec, attributeName: string, typeName: string): void {
    const attribute: PgCodecAttribute | undefined = owner.attributes?.[attributeName];
    if (!attribute) throw new Error(`@gid: ${owner.name} has no column ${attributeName}`);
    const known = (getElementCodec(attribute.codec) ?? attribute.codec).extensions?.globalIdOf;
    // A primary key may be a foreign key too; it stays the id of its own row.
    if (known === typeName || this.#primaryKeys.has(attribute)) return;
    const column = `${owner.name}.${attributeName}`;
    if (known) throw new Error(`${column} can't be the id of a ${known} and of a ${typeName}`);
    attribute.codec = mapElementCodec(attribute.codec, (held) => this.#findCodec(typeName, column, held));
  }

  /**
   * Returns the codec of a type's ids.
   *
   * @param owner the column, for messages
   * @param column the codec of a column that holds keys; by default, the ids are made of texts of keys
   */
  #findCodec(typeName: string, owner: string, column?: PgCodec): PgCodec {
    const view = this.#views.get(typeName);
    const name = `globalIdOf${typeName}${column ? `As${column.name}` : ""}`;
    let codec = this.#codecs.get(name);
    if (!codec) {
      codec = makeGlobalIdCodec({ name, owner, typeName, key: view && primaryKeyOf(view), column });
      this.#codecs.set(name, codec);
    }
    return codec;
  }
}
