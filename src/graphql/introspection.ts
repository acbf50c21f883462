import type {
  DocumentNode,
  FieldNode,
  GraphQLError,
  GraphQLSchema,
  SelectionSetNode,
} from "postgraphile/graphql";
import { isEnumType, isInputObjectType, isInterfaceType, isObjectType } from "postgraphile/graphql";
import { findDocumentFacts } from "./document-facts.ts";
import type { Variables } from "./operation.ts";
import { findOperation, listParts } from "./operation.ts";
import { apiError } from "../errors/api-error.ts";
import { memoizeByObject } from "../lib/remembered.ts";

/** The introspection in an operation. */
export interface Introspection {
  /** Number of `__schema` fields. */
  schemas: number;
  /** Whether the operation contains nothing else. */
  isAll: boolean;
  /** Estimated number of things in the response: types, fields, arguments and so on. */
  things: number;
}

const thingsPerPoint = 100;

/** Returns the cost of the introspection in an operation, in points. */
export const computeIntrospectionCost = ({ things }: Introspection): number =>
  Math.ceil(things / thingsPerPoint);

/** Returns an error if an operation has too much introspection, else null. */
export function checkIntrospection({ schemas }: Introspection): GraphQLError | null {
  if (schemas <= 1) return null;
  const message = `The operation requests \`__schema\` ${schemas} times; once is allowed.`;
  return apiError("QUERY_TOO_COMPLEX", message, { schemas, maximum: 1 });
}

const none: Introspection = { schemas: 0, isAll: false, things: 0 };

/** Measures an operation's introspection. */
export function measureIntrospection(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Variables,
): Introspection {
  // Most operations return here
  if (!findDocumentFacts(schema, document).hasIntrospection) return none;
  const { operation, fragments } = findOperation(document, operationName);
  if (!operation) return none;
  const walked = { schema, operation, fragments, variables };
  const found = { ...none, isAll: true };
  const sizes = sizesOf(schema);

  /** Estimates the things in the response to a selection set on one object. */
  const thingsIn = (set: SelectionSetNode, isRoot: boolean): number => {
    let things = 0;
    for (const part of listParts(walked, null, set)) {
      if (part.set) things += thingsIn(part.set, isRoot);
      else things += isRoot ? rootThings(part.field) : thingsOf(part.field);
    }
    return things;
  };
  const thingsOf = ({ name, selectionSet }: FieldNode): number =>
    selectionSet ? (sizes[name.value] ?? 1) * (1 + thingsIn(selectionSet, false)) : 0;
  const rootThings = (node: FieldNode): number => {
    const name = node.name.value;
    if (name === "__schema") found.schemas++;
    if (name === "__schema" || name === "__type") return thingsOf(node);
    if (name !== "__typename") found.isAll = false;
    return 0;
  };
  found.things = thingsIn(operation.selectionSet, true);
  return found;
}

/** Average lengths of the lists of introspection, by field name. */
type SchemaSizes = Record<string, number>;

const sizesOf = memoizeByObject((schema: GraphQLSchema): SchemaSizes => {
  const types = Object.values(schema.getTypeMap());
  const objects = types.filter((type) => isObjectType(type) || isInterfaceType(type));
  const fields = objects.flatMap((type) => Object.values(type.getFields()));
  const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
  const ofTypes = (counts: number[]) => sum(counts) / types.length;
  return {
    types: types.length,
    directives: schema.getDirectives().length,
    fields: ofTypes([fields.length]),
    args: sum(fields.map(({ args }) => args.length)) / fields.length,
    interfaces: ofTypes(objects.map((type) => type.getInterfaces().length)),
    possibleTypes: ofTypes(types.filter(isInterfaceType).map((type) => schema.getPossibleTypes(type).length)),
    enumValues: ofTypes(types.filter(isEnumType).map((type) => type.getValues().length)),
    inputFields: ofTypes(types.filter(isInputObjectType).map((type) => Object.keys(type.getFields()).length)),
  };
});
