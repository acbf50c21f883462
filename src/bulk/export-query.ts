import type {
  DocumentNode,
  FieldNode,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
  SelectionNode,
} from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  parse,
} from "postgraphile/graphql";
import { findOperation } from "../graphql/operation.ts";
import { maxPageSize } from "../graphql/page-size.ts";
import type { ReadableOperation, SelectedField } from "../reads/selection.ts";
import { selectedFields } from "../reads/selection.ts";
import type { AddedNames } from "./query-nodes.ts";
import { chooseNames, fieldNode, queryNode, valueArgument } from "./query-nodes.ts";

/** Rows of a page of the list, if it has nested lists. */
const pageSizeWithNested = 50;

/** The queries that read all rows of a list. */
export interface ExportQueries {
  names: AddedNames;
  /** The name of the list in responses. */
  key: string;
  /** The paths of all values of the rows and of their nested lists. */
  columns: readonly string[];
  /** The names of the row's own values, objects and lists. */
  keys: readonly string[];
  /** The paths of objects and nested lists of which one field is requested. */
  single: ReadonlySet<string>;
  /** The query for the page of the list after the cursor `$after`. */
  page: DocumentNode;
  /** Returns the query for the page of a nested list of the object `$id` after the cursor `$after`. */
  more(path: readonly string[]): DocumentNode;
}

/** Thrown if a query can't be exported. The message is for its author. */
export class RefusedExport extends Error {
  override name = "NoExport";
}

/**
 * Rewrites a valid query of one list, so that the list and its nested lists can be read page by page. The new queries have
 * each field once, no fragments and directives, and the fields for paging.
 *
 * @param most rows of a page
 * @throws {RefusedExport} if the query doesn't have exactly one list, or requests something outside of rows
 */
export function exportQueries(
  schema: GraphQLSchema,
  source: string,
  variables: Record<string, unknown>,
  most = maxPageSize,
): ExportQueries {
  const { operation: definition, fragments } = findOperation(parse(source), null);
  const operation = { schema, definition: definition!, fragments };
  return new Rewriting(operation, variables, chooseNames(source), most).queries();
}

/** Whether a type is a connection, which is a page of a list. */
function isConnection(type: GraphQLOutputType | null | undefined): boolean {
  const named = type && getNamedType(type);
  return isObjectType(named) && "edges" in named.getFields() && "pageInfo" in named.getFields();
}

const isNode = (type: GraphQLObjectType): boolean => type.getInterfaces().some(({ name }) => name === "Node");

/** A nested list: the field, and the type that has it. */
interface Nested {
  owner: GraphQLObjectType;
  field: FieldNode;
}

/** The position of an object relative to its row. */
type Position = "row" | "object" | "value of a list";

class Rewriting {
  readonly #operation: ReadableOperation;
  readonly #variables: Record<string, unknown>;
  readonly #names: AddedNames;
  readonly #most: number;
  readonly #nested = new Map<string, Nested>();
  readonly #columns: string[] = [];
  readonly #keys: string[] = [];
  readonly #single = new Set<string>();

  constructor(
    operation: ReadableOperation,
    variables: Record<string, unknown>,
    names: AddedNames,
    most: number,
  ) {
    this.#most = most;
    this.#operation = operation;
    this.#variables = variables;
    this.#names = names;
  }

  queries(): ExportQueries {
    const { schema, definition } = this.#operation;
    const query = schema.getQueryType()!;
    const [[key, root] = [], ...others] = this.#selected(query, [definition.selectionSet]);
    if (key === undefined || !root || others.length > 0 || !isConnection(query.getFields()[root.name]?.type))
      throw new RefusedExport("The query must have one field, which is a list.");
    const list = this.#list(query, key, root, []);
    const { id, after, more } = this.#names;
    const size = this.#nested.size > 0 ? Math.min(pageSizeWithNested, this.#most) : this.#most;
    if (this.#nested.size > 0) this.#columns.push("__parentId");
    return {
      names: this.#names,
      key,
      columns: this.#columns,
      keys: this.#keys,
      single: this.#single,
      page: queryNode(definition, `$${after}: String`, this.#page(list, size, `$${after}`)),
      more: (path) => {
        const { owner, field } = this.#nested.get(path.join("."))!;
        const page = this.#page({ ...field, alias: fieldNode(more).name }, this.#most, `$${after}`);
        const parts = { arguments: [valueArgument("id", `$${id}`)], below: [page], on: owner.name };
        return queryNode(definition, `$${id}: ID!, $${after}: String`, fieldNode("node", parts));
      },
    };
  }

  #selected(type: GraphQLObjectType, sets: SelectedField["below"]): Map<string, SelectedField> {
    return selectedFields(this.#operation, type, sets, this.#variables);
  }

  /** Rewrites the field of a list, without the arguments for paging. */
  #list(owner: GraphQLObjectType, key: string, selected: SelectedField, path: readonly string[]): FieldNode {
    const connection = objectType(owner.getFields()[selected.name]!.type);
    const edges = this.#rowsField(connection, selected, "edges", "pageInfo", [...path, "edges"]);
    const edge = objectType(connection.getFields().edges!.type);
    const node = this.#rowsField(edge, edges, "node", "cursor", [...path, "edges", "node"]);
    const rows = this.#fields(objectType(edge.getFields().node!.type), node.below, path, "row");
    return fieldNode(selected.name, {
      alias: key,
      arguments: (selected.node.arguments ?? []).filter(({ name }) => !pageArguments.has(name.value)),
      below: [
        fieldNode("pageInfo", {
          alias: this.#names.page,
          below: [fieldNode("hasNextPage"), fieldNode("endCursor")],
        }),
        fieldNode("edges", { below: [fieldNode("node", { below: rows })] }),
      ],
    });
  }

  /** Returns the field that leads from a page to its rows. Fields for paging are left out, because a file has no pages. */
  #rowsField(
    type: GraphQLObjectType,
    { below }: SelectedField,
    wanted: string,
    ofPaging: string,
    path: readonly string[],
  ): SelectedField {
    const fields = this.#selected(type, below);
    for (const [key, { name }] of fields) {
      if (name === wanted && key !== wanted) throw new RefusedExport(`“${wanted}” can't have an alias.`);
      if (![wanted, ofPaging, "__typename"].includes(name))
        throw new RefusedExport(
          `“${[...path.slice(0, -1), name].join(".")}” is not part of a row, and a file has only rows. Request it with a query.`,
        );
    }
    const found = fields.get(wanted);
    if (found?.name !== wanted)
      throw new RefusedExport("A list needs edges { node { … } }: a file has only rows.");
    return found;
  }

  #fields(
    type: GraphQLObjectType,
    sets: SelectedField["below"],
    path: readonly string[],
    standing: Position,
  ): SelectionNode[] {
    const made: SelectionNode[] = [];
    const id = fieldNode("id", { alias: this.#names.id });
    const column = (here: readonly string[]) => {
      if (standing !== "value of a list") this.#columns.push(here.join("."));
    };
    if (standing === "row" && isNode(type)) {
      made.push(id);
      column([...path, "id"]);
    }
    const fields = this.#selected(type, sets);
    if (path.length === 0) this.#keys.push(...fields.keys());
    else if (fields.size === 1) this.#single.add(path.join("."));
    for (const [key, selected] of fields) {
      requireFreeName(key, selected, standing);
      const here = [...path, key];
      if (selected.name === "__typename" || isLeafType(getNamedType(type.getFields()[selected.name]!.type))) {
        if (!(standing === "row" && isNode(type) && key === "id")) column(here);
        made.push(fieldNode(selected.name, { ...selected.node, alias: key }));
        continue;
      }
      const { type: fieldType } = type.getFields()[selected.name]!;
      if (isConnection(fieldType)) {
        if (standing === "value of a list" || !isNode(type))
          throw new RefusedExport(`The list “${here.join(".")}” must belong to an object with an id.`);
        const field = this.#list(type, key, selected, here);
        this.#nested.set(here.join("."), { owner: type, field });
        if (standing === "object" && !made.includes(id)) made.push(id);
        made.push(this.#page(field, this.#most));
      } else {
        const isList = isListType(getNullableType(fieldType));
        if (isList) column(here);
        const below = isList || standing === "value of a list" ? "value of a list" : "object";
        const inner = this.#fields(objectType(fieldType), selected.below, here, below);
        made.push(fieldNode(selected.name, { ...selected.node, alias: key, below: inner }));
      }
    }
    return made;
  }

  #page(field: FieldNode, size: number, after?: string): FieldNode {
    const bounds = [valueArgument("first", String(size))];
    if (after !== undefined) bounds.push(valueArgument("after", after));
    return { ...field, arguments: [...field.arguments!, ...bounds] };
  }
}

const pageArguments = new Set(["first", "last", "after", "before"]);

/** Refuses an alias that a line uses for something else, or that objects inherit. */
function requireFreeName(key: string, { name }: SelectedField, standing: Position): void {
  const isTaken = (key.startsWith("__") && key !== "__typename") || (key === "id" && standing === "row");
  if (isTaken && key !== name) throw new RefusedExport(`“${key}” can't be the alias of another field.`);
}

function objectType(type: GraphQLOutputType): GraphQLObjectType {
  const named = getNamedType(type);
  if (!isObjectType(named))
    throw new RefusedExport(`A file can't contain “${named.name}”, because it can be one of several types.`);
  return named;
}
