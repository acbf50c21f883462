import type { GraphQLNamedType, GraphQLSchemaConfig } from "postgraphile/graphql";
import { buildSchema, GraphQLSchema, printSchema, specifiedScalarTypes } from "postgraphile/graphql";
import { withKnownLocations } from "./directives.ts";

/** A schema as data, for a thread that doesn't share objects: everything that introspection shows of it. */
export interface SchemaText {
  sdl: string;
  /** Names in the order of the schema, which SDL doesn't keep for built-in parts. */
  types: string[];
  directives: string[];
}

export function schemaToText(schema: GraphQLSchema): SchemaText {
  return {
    sdl: printSchema(schema),
    types: Object.keys(schema.getTypeMap()),
    directives: schema.getDirectives().map(({ name }) => name),
  };
}

/**
 * Makes a schema that answers introspection like the original. Its scalars accept all values, its fields can't be read.
 */
export function schemaFromText({ sdl, types, directives }: SchemaText): GraphQLSchema {
  const built = buildSchema(sdl, { assumeValid: true, assumeValidSDL: true, noLocation: true });
  const config = built.toConfig();
  const known = new Set(config.types.map(({ name }) => name));
  return new OrderedSchema(
    {
      ...config,
      // SDL leaves out scalars that no field has
      types: [...config.types, ...specifiedScalarTypes.filter(({ name }) => !known.has(name))],
      directives: withKnownLocations(directives.map((name) => built.getDirective(name)!)),
    },
    types,
  );
}

class OrderedSchema extends GraphQLSchema {
  readonly #types: Record<string, GraphQLNamedType>;

  constructor(config: GraphQLSchemaConfig, names: readonly string[]) {
    super(config);
    const types = super.getTypeMap();
    this.#types = Object.fromEntries(names.map((name) => [name, types[name]!]));
  }

  override getTypeMap(): Record<string, GraphQLNamedType> {
    return this.#types;
  }
}
