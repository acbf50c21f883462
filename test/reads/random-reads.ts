import type {
  GraphQLArgument,
  GraphQLField,
  GraphQLInputObjectType,
  GraphQLInputType,
  GraphQLObjectType,
  GraphQLSchema,
} from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from "postgraphile/graphql";
import { splitGlobalId } from "../../src/graphql/global-id.ts";
import { writeKey } from "../../src/graphql/key-forms.ts";
import { encodeCursor } from "../../src/graphql/cursor.ts";
import type { Random } from "../plugins/random-operations.ts";
import { makeRandom } from "../plugins/random-operations.ts";

/** Values in the data, so that filters find something: by type and field. */
export type Samples = ReadonlyMap<string, readonly unknown[]>;

/** A random operation. */
export interface RandomRead {
  source: string;
  variables: Record<string, unknown>;
  operationName?: string;
}

const unknownUuid = "01990000-0000-7000-8000-000000000000";
const locations = /^(first|last|after|before|orderBy|filter|id|ids|search)$/;

/** Makes a random read operation: the same one for the same seed. */
export function randomRead(schema: GraphQLSchema, samples: Samples, seed: number): RandomRead {
  return new Maker(schema, samples, makeRandom(seed)).operation();
}

class Maker {
  readonly #schema: GraphQLSchema;
  readonly #samples: Samples;
  readonly #random: Random;
  readonly #definitions: string[] = [];
  readonly #variables: Record<string, unknown> = {};
  readonly #fragments: { name: string; type: string; text: string }[] = [];
  #aliases = 0;
  /** How many more fields may be added. */
  #budget: number;
  /** The order of the list whose arguments are being made. */
  #order: string | null = null;
  /** Whether it is read from its end. */
  #isBackward = false;

  constructor(schema: GraphQLSchema, samples: Samples, random: Random) {
    this.#schema = schema;
    this.#samples = samples;
    this.#random = random;
    this.#budget = random(5) === 0 ? 60 : 5 + random(12);
  }

  #chance(oneIn: number): boolean {
    return this.#random(oneIn) === 0;
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random(list.length)]!;
  }

  operation(): RandomRead {
    const depth = 3 + this.#random(8);
    const fields = Object.values(this.#schema.getQueryType()!.getFields());
    const roots: string[] = [];
    for (let left = 1 + this.#random(3); left > 0; left--)
      roots.push(this.#field("Query", this.#pick(fields), depth));
    if (this.#chance(5)) roots.unshift(this.#chance(2) ? "__typename" : "me: __typename");
    const name = this.#chance(3) ? "Wanted" : undefined;
    const definitions = this.#definitions.length > 0 ? `(${this.#definitions.join(", ")})` : "";
    const parts = [
      `query ${name ?? (definitions ? "Q" : "")}${definitions} { ${roots.join(" ")} }`,
      ...this.#fragments.map(({ name: fragment, type, text }) => `fragment ${fragment} on ${type} ${text}`),
    ];
    if (name) parts.unshift("query Other { __typename }");
    const read = { source: parts.join("\n"), variables: this.#variables };
    return name ? { ...read, operationName: name } : read;
  }

  #selection(typeName: string, depth: number): string {
    const type = this.#schema.getType(typeName)!;
    if (isInterfaceType(type)) {
      const some = this.#pick(this.#schema.getPossibleTypes(type)).name;
      const own = this.#chance(2) ? "__typename id" : "... on Node { id }";
      return `{ ${own} ... on ${some} ${this.#selection(some, depth)} }`;
    }
    if (!isObjectType(type)) return "";
    const parts: string[] = this.#chance(6) ? ["__typename"] : [];
    const fields = Object.values(type.getFields());
    const wanted = this.#isShell(type) ? fields.length : 1 + this.#random(8);
    for (const field of this.#shuffled(fields).slice(0, wanted)) {
      const isLeaf = isLeafType(getNamedType(field.type));
      if (this.#budget <= 0 && !this.#isShell(type)) break;
      if (!isLeaf && depth <= 0 && getNamedType(field.type).name !== "PageInfo") continue;
      if (this.#isShell(type) && this.#chance(4) && parts.length > 0) continue;
      parts.push(this.#wrapped(typeName, this.#field(typeName, field, depth - 1)));
    }
    return `{ ${parts.length > 0 ? parts.join(" ") : "__typename"} }`;
  }

  /** Whether a type only leads to others. */
  #isShell({ name }: GraphQLObjectType): boolean {
    return /(Connection|Edge|Aggregates)$/.test(name);
  }

  #shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((value) => ({ value, order: this.#random(1e6) }))
      .sort((a, b) => a.order - b.order)
      .map(({ value }) => value);
  }

  /** A field as it is, in a fragment, or with a directive. */
  #wrapped(typeName: string, field: string): string {
    switch (this.#random(12)) {
      case 0:
        return `... on ${typeName} { ${field} }`;
      case 1:
        return `... { ${field} }`;
      case 2: {
        const name = `F${this.#fragments.length}`;
        this.#fragments.push({ name, type: typeName, text: `{ ${field} }` });
        return this.#chance(3) ? `...${name} ...${name}` : `...${name}`;
      }
      case 3:
        return `${field.startsWith("{") ? "" : "... "}${this.#directive()} { ${field} }`;
      default:
        return field;
    }
  }

  #directive(): string {
    const name = this.#chance(2) ? "skip" : "include";
    if (this.#chance(2)) return `@${name}(if: ${this.#chance(3) === (name === "skip")})`;
    return `@${name}(if: ${this.#variable("Boolean!", name === "include" ? !this.#chance(4) : this.#chance(4))})`;
  }

  #field(owner: string, field: GraphQLField<unknown, unknown>, depth: number): string {
    this.#budget--;
    this.#order = this.#orderOf(field);
    this.#isBackward = field.args.some(({ name }) => name === "last") && this.#chance(3);
    const unused = this.#chance(20) ? [] : this.#chance(2) ? ["sequence"] : ["moment"];
    const given = field.args.flatMap((argument) => {
      // Of these two, one is given
      if (unused.includes(argument.name)) return [];
      const text = this.#argument(owner, field, argument);
      return text === undefined ? [] : [`${argument.name}: ${text}`];
    });
    const needsAlias = given.length > 0 || field.args.length > 0;
    const alias = needsAlias || this.#chance(6) ? `a${this.#aliases++}: ` : "";
    const call = given.length > 0 ? `${field.name}(${given.join(", ")})` : field.name;
    return `${alias}${call} ${this.#selection(getNamedType(field.type).name, depth)}`;
  }

  #argument(
    owner: string,
    field: GraphQLField<unknown, unknown>,
    argument: GraphQLArgument,
  ): string | undefined {
    const { name, type } = argument;
    if (!locations.test(name)) {
      const isLeftOut = !isNonNullType(type) && this.#chance(3);
      const isNull = !isNonNullType(type) && this.#chance(12);
      return isLeftOut
        ? undefined
        : this.#given(type, isNull ? null : this.#value(type), !isNonNullType(type));
    }
    const target = getNamedType(field.type).name.replace("Connection", "");
    if (name === "id")
      return this.#given(type, this.#id(target === "Node" ? this.#anyType() : target), false);
    if (name === "ids")
      return this.#given(
        type,
        Array.from({ length: this.#random(6) }, () => this.#id(this.#anyType())),
        false,
      );
    if (name === "search") return this.#chance(3) ? this.#given(type, this.#words(target)) : undefined;
    if (name === "orderBy")
      return this.#order === null && this.#chance(6) ? "null" : (this.#order ?? undefined);
    const isOther = (name === "first" && this.#isBackward) || (name === "last" && !this.#isBackward);
    if (isOther ? !this.#chance(40) : this.#chance(/first|last/.test(name) ? 4 : 2)) return undefined;
    if (name === (this.#isBackward ? "after" : "before") && this.#chance(2)) return undefined;
    if (name === "first" || name === "last")
      return this.#given(
        type,
        this.#chance(40) ? this.#pick([-1, 251]) : this.#pick([0, 1, 1, 2, 3, 5, 12, null]),
      );
    if (name === "after" || name === "before") {
      const cursor = this.#cursor(`${owner}.${field.name}`, target);
      return this.#given(
        type,
        this.#chance(25) ? this.#pick(["", "x", `${cursor}=`]) : this.#chance(6) ? null : cursor,
      );
    }
    return this.#given(
      type,
      this.#chance(20) ? null : this.#filter(type as GraphQLInputObjectType, target, 2),
    );
  }

  /** An order that a list offers; null of lists that have none, and mostly of others. */
  #orderOf({ args }: GraphQLField<unknown, unknown>): string | null {
    const type = args.find(({ name }) => name === "orderBy")?.type;
    if (!isEnumType(type) || !this.#chance(2)) return null;
    return this.#pick(type.getValues()).name;
  }

  /** A cursor of the order of the list: of a row that there may be, or of a place between rows. */
  #cursor(list: string, typeName: string): string {
    const key = splitGlobalId(this.#id(typeName))?.key ?? "";
    const order = this.#order === null || this.#chance(30) ? "ID_ASC" : this.#order;
    if (order === "ID_ASC") return encodeCursor(list, key);
    const columns = order
      .replace(/_(ASC|DESC)$/, "")
      .split("_AND_")
      .filter((column) => column !== "ID");
    const values = columns.map((column) => {
      const field = column
        .toLowerCase()
        .replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
      const samples = this.#samples.get(`${typeName}.${field}`) ?? [];
      if (samples.length === 0 || this.#chance(6)) return "%";
      return writeKey([String(this.#pick(samples)).replace(/\+00:00$/, "Z")]);
    });
    return encodeCursor(`${list}@${order}`, [...values, key].join("/"));
  }

  /** Something to search for, which some row may have. */
  #words(typeName: string): string | null {
    if (this.#chance(20)) return this.#pick([null, "", "a b", "%_%", "x".repeat(101)]);
    const texts = [...this.#samples]
      .filter(([column]) => column.startsWith(`${typeName}.`) && /number|name|code|email/i.test(column))
      .flatMap(([, values]) => values.filter((value) => typeof value === "string"));
    const text = texts.length > 0 ? this.#pick(texts) : "nothing";
    return text.slice(this.#random(4), this.#chance(3) ? undefined : 4 + this.#random(6)).toLowerCase();
  }

  /** A value of an argument of a function, or a list of values. */
  #value(type: GraphQLInputType): unknown {
    const nullable = getNullableType(type);
    if (!isListType(nullable)) return this.#made(nullable, !this.#chance(8));
    return Array.from({ length: this.#random(4) }, () => this.#value(nullable.ofType));
  }

  #anyType(): string {
    return this.#pick(this.#schema.getPossibleTypes(this.#schema.getType("Node") as never)).name;
  }

  #id(typeName: string): unknown {
    const rare = this.#random(40);
    if (rare === 0) return "nonsense";
    if (rare === 1) return `gid://service/Nothing/${unknownUuid}`;
    if (rare === 2) return `gid://service/${this.#anyType()}/${unknownUuid}`;
    if (rare < 6) return `gid://service/${typeName}/${unknownUuid}`;
    const ids = this.#samples.get(`${typeName}.id`) ?? [];
    return ids.length > 0 ? this.#pick(ids) : `gid://service/${typeName}/${unknownUuid}`;
  }

  #filter(type: GraphQLInputObjectType, typeName: string, depth: number): Record<string, unknown> {
    const filter: Record<string, unknown> = {};
    const fields = Object.values(type.getFields());
    for (let left = this.#random(3); left > 0; left--) {
      const field = this.#pick(fields);
      if (field.name === "NOT") {
        if (depth > 0) filter.NOT = this.#filter(type, typeName, depth - 1);
      } else if (field.name === "AND" || field.name === "OR") {
        if (depth > 0)
          filter[field.name] = Array.from({ length: this.#random(4) }, () =>
            this.#filter(type, typeName, depth - 1),
          );
      } else if (field.type.toString().endsWith("FilterInput")) {
        filter[field.name] = this.#related(field.type as GraphQLInputObjectType, depth);
      } else if ("some" in (field.type as GraphQLInputObjectType).getFields()) {
        const quantifiers = Object.values((field.type as GraphQLInputObjectType).getFields());
        const { name, type: entry } = this.#pick(quantifiers);
        filter[field.name] = { [name]: this.#related(entry as GraphQLInputObjectType, depth) };
      } else {
        filter[field.name] = this.#comparisons(
          field.type as GraphQLInputObjectType,
          `${typeName}.${field.name}`,
        );
      }
    }
    return filter;
  }

  /** A filter of rows at the end of a relation. */
  #related(type: GraphQLInputObjectType, depth: number): Record<string, unknown> {
    return depth > 0 ? this.#filter(type, type.name.replace("FilterInput", ""), depth - 1) : {};
  }

  #comparisons(type: GraphQLInputObjectType, column: string): Record<string, unknown> {
    const operators = Object.values(type.getFields());
    const comparisons: Record<string, unknown> = {};
    for (let left = this.#chance(4) ? this.#random(3) : 1; left > 0; left--) {
      const { name, type: operand } = this.#pick(operators);
      comparisons[name] = this.#operand(getNullableType(operand), name, column);
      if (this.#chance(60)) comparisons[name] = null;
    }
    return comparisons;
  }

  #operand(type: GraphQLInputType, operator: string, column: string): unknown {
    // A sample of a list is a list
    if (isListType(type))
      return Array.from({ length: this.#random(4) }, () =>
        this.#operand(getNullableType(type.ofType), operator, column),
      ).flat();
    if (operator === "isNull" || operator === "isEmpty") return this.#chance(2);
    const samples = this.#samples.get(column) ?? [];
    const isPart = operator === "contains" && !/^(String|JSON)$/.test(getNamedType(type).name);
    if (isPart && !Array.isArray(samples[0])) return this.#made(type, !this.#chance(8));
    if (operator === "hasKey") return this.#pick(["a", "x", ""]);
    const sample = samples.length > 0 && !this.#chance(8) ? this.#pick(samples) : this.#made(type);
    const isText = typeof sample === "string" && !isEnumType(getNamedType(type));
    if (!isText || !/contains|sWith/i.test(operator)) return sample;
    const [start, length] = [this.#random(4), 1 + this.#random(4)];
    const characters = Array.from(sample);
    return characters.slice(operator === "startsWith" ? 0 : start, start + length).join("");
  }

  /** @param isRight whether it has to be one that is not refused */
  #made(type: GraphQLInputType, isRight = false): unknown {
    const named = getNamedType(type);
    if (isEnumType(named)) return this.#pick(named.getValues()).name;
    const made: Record<string, unknown[]> = {
      Int: [0, 1, -5, 2147483647],
      Float: [0, 0.5, 100, 1e300],
      Boolean: [true, false],
      UUID: ["01980000-0000-7000-8000-000000000001", "01980000-0000-7000-8000-00000000000A", "x"],
      Date: ["2026-01-01", "2026-02-30", "infinity", "tomorrow", "5874898-01-01"],
      Time: ["12:00:00", "25:00:00", "12:00"],
      LocalDateTime: ["2026-01-01T00:00:00", "2026-01-01T00:00:00Z", "2026-13-01T00:00:00"],
      Duration: ["P1D", "PT1.5S", "P", "1 day", "P999999Y"],
      BigInt: ["1", "9223372036854775807", "9223372036854775808", "1.5", "-0"],
      Decimal: ["1.50", "-2", "1e5", "NaN", "9".repeat(900)],
      Base64: ["AA==", "", "AA", "!"],
      InternetAddress: ["10.0.0.1", "::1/128", "10.0.0.1/33", "fe80::1%eth0", "x"],
      MacAddress: ["08:00:2b:01:02:03", "08:00"],
      DateTime: ["2026-01-01T00:00:00Z", "2025-06-30T12:00:00.5+02:00"],
      ID: [`gid://service/Product/${unknownUuid}`],
      JSON: [{ a: [1, null] }, [], [1, "x"], "x", 1.5, {}],
      IntRange: ["[1,10)", "empty", "(,5]", "[10,1)"],
      DateRange: ["[2026-01-01,2026-02-01)", "[2026-02-30,)", "(,)"],
      String: ["", "%", "a_b", "ä", "quote \" \\ '", "💥", "x".repeat(300)],
    };
    const values = made[named.name] ?? [null];
    return isRight ? values[0] : this.#pick(values);
  }

  /** A value as a literal, as a variable, or with variables in it. */
  #given(type: GraphQLInputType, value: unknown, mayBeLeftOut = true): string {
    if (this.#chance(3)) {
      if (mayBeLeftOut && this.#chance(8)) return this.#variable(String(getNullableType(type)), undefined);
      return this.#variable(value === null ? String(getNullableType(type)) : String(type), value);
    }
    return this.#literal(type, value);
  }

  #variable(type: string, value: unknown): string {
    const name = `v${this.#definitions.length}`;
    const hasDefault =
      value !== undefined && value !== null && this.#chance(5) && /^(Int|Boolean|String)!?$/.test(type);
    this.#definitions.push(`$${name}: ${type}${hasDefault ? ` = ${JSON.stringify(value)}` : ""}`);
    if (value !== undefined && !hasDefault) this.#variables[name] = value;
    return `$${name}`;
  }

  #literal(type: GraphQLInputType, value: unknown): string {
    if (value === null || value === undefined) return "null";
    const nullable = getNullableType(type);
    if (isListType(nullable)) {
      const { ofType } = nullable;
      const list = (Array.isArray(value) ? value : [value]) as unknown[];
      return `[${list.map((element) => this.#literal(ofType, element)).join(", ")}]`;
    }
    if (isInputObjectType(nullable)) {
      const fields = nullable.getFields();
      const parts = Object.entries(value).map(([name, inner]) => {
        const innerType = fields[name]!.type;
        const isPlain = isNonNullType(innerType) || inner === null || !this.#chance(8);
        return `${name}: ${isPlain ? this.#literal(innerType, inner) : this.#variable(String(innerType), inner)}`;
      });
      return `{ ${parts.join(", ")} }`;
    }
    if (!isEnumType(nullable)) return JSON.stringify(value).replace(/"(\w+)":/g, "$1: ");
    return value as string;
  }
}
