import type { GraphQLField, GraphQLObjectType, GraphQLSchema } from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from "postgraphile/graphql";
import { Random } from "../lib/random.ts";

/** What is selected of an object: a value, an object with values, or a list of rows. */
export interface Part {
  kind: "value" | "object" | "values" | "list";
  /** Its name in answers. */
  key: string;
  /** The field with its arguments, but for those of pages. */
  call: { name: string; arguments: string[] };
  /** The type of the object that it is of. */
  owner: string;
  parts: Part[];
  /** Whether a directive leaves it out. */
  isLeftOut: boolean;
}

/** A random query to be exported. */
export interface RandomExport {
  source: string;
  variables: Record<string, unknown>;
  root: Part;
}

/** Lists that change while exports are made. */
const moving = new Set(["events", "bulkOperations"]);

/** Makes a random query of one list: the same one for the same seed. */
export function randomExport(
  schema: GraphQLSchema,
  idsOf: (list: string) => readonly string[],
  seed: number,
): RandomExport {
  return new Maker(schema, new Random(seed)).make(idsOf);
}

const nodeOf = (connection: GraphQLObjectType): GraphQLObjectType => {
  const edge = getNamedType(connection.getFields().edges!.type) as GraphQLObjectType;
  return getNamedType(edge.getFields().node!.type) as GraphQLObjectType;
};
const isList = ({ type }: GraphQLField<unknown, unknown>): boolean =>
  getNamedType(type).name.endsWith("Connection");
/** Whether a field lists rows with ids, without an argument that has to limit them. */
export const isWholeList = (field: GraphQLField<unknown, unknown>): boolean =>
  isList(field) &&
  !field.args.some(isRequiredArgument) &&
  isNode(nodeOf(getNamedType(field.type) as GraphQLObjectType));
const isNode = (type: GraphQLObjectType) => type.getInterfaces().some(({ name }) => name === "Node");

class Maker {
  readonly #schema: GraphQLSchema;
  readonly #random: Random;
  readonly #fragments: string[] = [];
  #names = 0;

  constructor(schema: GraphQLSchema, random: Random) {
    this.#schema = schema;
    this.#random = random;
  }

  #chance = (oneIn: number): boolean => this.#random.below(oneIn) === 0;

  make(idsOf: (list: string) => readonly string[]): RandomExport {
    const roots = Object.values(this.#schema.getQueryType()!.getFields()).filter(
      (field) => isWholeList(field) && !moving.has(field.name),
    );
    const field = this.#random.oneOf(roots);
    const ids = idsOf(field.name);
    // Lists within many rows take long
    const isWhole = ids.length < 60 || this.#chance(6);
    const root = this.#part(this.#schema.getQueryType()!, field, isWhole && ids.length >= 60 ? 0 : 2);
    if (!isWhole) {
      const some = ids.filter(() => this.#chance(Math.ceil(ids.length / 30)));
      root.call.arguments.push(`filter: { id: { in: ${JSON.stringify(some)} } }`);
    }
    root.isLeftOut = false;
    const fields = this.#textOf(root);
    const text = [fields, ...this.#fragments].join("\n");
    const declared = ["$yes: Boolean!", "$no: Boolean = false"].filter((each) =>
      text.includes(each.slice(0, each.indexOf(":"))),
    );
    return {
      source: [
        `query ${declared.length > 0 ? `(${declared.join(", ")})` : ""} { ${fields} }`,
        ...this.#fragments,
      ].join("\n"),
      variables: text.includes("$yes") ? { yes: true } : {},
      root,
    };
  }

  #part(owner: GraphQLObjectType, field: GraphQLField<unknown, unknown>, depth: number): Part {
    const type = getNamedType(field.type);
    const isAlias = this.#chance(6);
    const part: Part = {
      kind: isLeafType(type) ? "value" : isListType(getNullableType(field.type)) ? "values" : "object",
      key: isAlias ? `bulk_${this.#names++}` : field.name,
      call: { name: field.name, arguments: [] },
      owner: owner.name,
      parts: [],
      isLeftOut: this.#chance(12),
    };
    if (isList(field)) {
      part.kind = "list";
      const order = getNamedType(field.args.find(({ name }) => name === "orderBy")?.type);
      if (isEnumType(order) && this.#chance(2))
        part.call.arguments.push(`orderBy: ${this.#random.oneOf(order.getValues()).name}`);
    }
    if (isObjectType(type))
      part.parts = this.#parts(part.kind === "list" ? nodeOf(type) : type, depth, part.kind);
    return part;
  }

  #parts(type: GraphQLObjectType, depth: number, standing: Part["kind"]): Part[] {
    const isForValues = standing === "values";
    const fields = Object.values(type.getFields()).filter((field) => {
      // A value in the past needs one of two arguments
      if (field.args.some((arg) => isRequiredArgument(arg) || arg.name === "moment")) return false;
      if (isLeafType(getNamedType(field.type))) return true;
      if (!isObjectType(getNamedType(field.type)) || depth === 0) return false;
      return !isList(field) || (!isForValues && isNode(type));
    });
    const parts: Part[] = [];
    for (const field of fields) {
      const isLeaf = isLeafType(getNamedType(field.type));
      if (!this.#chance(isLeaf ? 3 : isList(field) ? 5 : 6)) continue;
      if (parts.filter(({ kind }) => kind !== "value").length > 2 && !isLeaf) continue;
      const part = this.#part(type, field, depth - 1);
      if (part.kind === "value" || part.parts.some(({ isLeftOut }) => !isLeftOut)) parts.push(part);
    }
    if (!parts.some(({ isLeftOut, kind }) => !isLeftOut && kind === "value")) {
      const leaf = fields.find((each) => isLeafType(getNamedType(each.type)))!;
      const part = { ...this.#part(type, leaf, 0), key: leaf.name, isLeftOut: false };
      return [part, ...parts.filter(({ key }) => key !== part.key)];
    }
    return parts;
  }

  #textOf(part: Part): string {
    const { kind, key, call, parts } = part;
    const directive = part.isLeftOut
      ? ` @${this.#random.oneOf(["include(if: $no)", "skip(if: $yes)", "skip(if: true)"])}`
      : this.#chance(12)
        ? " @include(if: $yes)"
        : "";
    const given = [...call.arguments];
    if (kind === "list" && this.#chance(2)) given.push(`first: ${1 + this.#random.below(5)}`);
    const field = `${key === call.name ? "" : `${key}: `}${call.name}${given.length > 0 ? `(${given.join(", ")})` : ""}`;
    const once = (some: readonly Part[]) => {
      if (kind === "value") return `${field}${directive}`;
      const within = some.map((each) => this.#wrapped(each)).join(" ");
      return kind === "list"
        ? `${field}${directive} { ${this.#paging("pageInfo { hasNextPage }")} edges { ${this.#paging("cursor")} node { ${within} } } }`
        : `${field}${directive} { ${within} }`;
    };
    const middle = this.#random.below(parts.length);
    if (part.owner === "Query" || middle === 0 || !this.#chance(4)) return once(parts);
    return `${once(parts.slice(0, middle))} ${once(parts.slice(middle))}`;
  }

  #paging = (text: string): string => this.#random.oneOf(["", "", "__typename", text]);

  #wrapped(part: Part): string {
    const text = this.#textOf(part);
    if (this.#chance(8)) return `... on ${part.owner} { ${text} }`;
    if (!this.#chance(8)) return text;
    const name = `F${this.#fragments.length}`;
    this.#fragments.push(`fragment ${name} on ${part.owner} { ${text} }`);
    return `...${name}`;
  }
}
