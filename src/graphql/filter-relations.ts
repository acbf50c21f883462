import type {
  DocumentNode,
  GraphQLArgument,
  GraphQLInputField,
  GraphQLInputObjectType,
  GraphQLInputType,
  GraphQLSchema,
} from "postgraphile/graphql";
import { getNamedType, isInputObjectType, isInputType, Kind, typeFromAST } from "postgraphile/graphql";
import { memoizeByObject } from "../lib/remembered.ts";
import type { Variables } from "./operation.ts";

/** Whether values of an input may follow relations. Most inputs aren't filters, and needn't be searched. */
const canFollowRelations = memoizeByObject((first: GraphQLInputObjectType): boolean => {
  const reached = new Set([first]);
  for (const each of reached) {
    for (const field of Object.values(each.getFields())) {
      if (field.extensions.requiresScopes !== undefined) return true;
      const named = getNamedType(field.type);
      if (isInputObjectType(named)) reached.add(named);
    }
  }
  return false;
});

function mayFollow(type: GraphQLInputType): boolean {
  const named = getNamedType(type);
  return isInputObjectType(named) && canFollowRelations(named);
}

/** Calls `look` for each field of an input that requires scopes: for each relation that a filter follows. */
export function forEachRelation(
  type: GraphQLInputType,
  value: unknown,
  look: (owner: string, relation: GraphQLInputField, value: unknown) => void,
): void {
  if (!mayFollow(type)) return;
  // Iterative, because clients may nest input more deeply than recursion allows
  const left: [type: GraphQLInputType, value: unknown][] = [[type, value]];
  for (let next; (next = left.pop());) {
    const [part, given] = next;
    if (typeof given !== "object" || given === null) continue;
    if (Array.isArray(given)) {
      for (const each of given) left.push([part, each]);
      continue;
    }
    const named = getNamedType(part);
    if (!isInputObjectType(named)) continue;
    const fields = named.getFields();
    for (const [name, below] of Object.entries(given)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (!field || below === undefined) continue;
      if (field.extensions.requiresScopes) look(named.name, field, below);
      left.push([field.type, below]);
    }
  }
}

/** Counts the relations that a filter follows. One to many rows counts once for each of `some`, `none` and `every`. */
export function countRelations(argument: GraphQLArgument | undefined, value: unknown): number {
  let relations = 0;
  if (argument)
    forEachRelation(argument.type, value, (_owner, { type }, below) => {
      const isMany = type.toString().endsWith("ListFilter");
      relations += isMany && typeof below === "object" && below !== null ? Object.keys(below).length : 1;
    });
  return relations;
}

/** A variable that may hold filters. */
export interface FilterVariable {
  name: string;
  type: GraphQLInputType;
}

/** Returns the variables of a document that may hold filters, by their types. */
export function filterVariables(schema: GraphQLSchema, { definitions }: DocumentNode): FilterVariable[] {
  return definitions.flatMap((definition) =>
    definition.kind !== Kind.OPERATION_DEFINITION
      ? []
      : (definition.variableDefinitions ?? []).flatMap(({ variable, type: node }) => {
          const type = typeFromAST(schema, node as never);
          return isInputType(type) && mayFollow(type) ? [{ name: variable.name.value, type }] : [];
        }),
  );
}

/** Returns the relations that values of variables follow, as a text: equal texts mean equal relations. */
export function listRelations(wanted: readonly FilterVariable[], variables: Variables): string {
  const found = new Set<string>();
  for (const { name, type } of wanted) {
    found.add(variables[name] === undefined ? `-${name}` : name);
    forEachRelation(type, variables[name], (owner, relation) =>
      found.add(`${name}:${owner}.${relation.name}`),
    );
  }
  return [...found].sort().join();
}
