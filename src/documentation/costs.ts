import type { GraphQLInputField, GraphQLInputFieldExtensions } from "postgraphile/graphql";
import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isObjectType,
  parse,
} from "postgraphile/graphql";
import { defaultPageSize, maxPageSize } from "../graphql/page-size.ts";
import { comparisonRows, rowsPerRelation } from "../graphql/given-argument.ts";
import { operationSize } from "../graphql/operation-size.ts";
import { computeCost, pointsPerMutation, rowsPerPoint } from "../graphql/assess.ts";
import type { Field, Model } from "./model.ts";
import { getEntryType } from "./model.ts";
import { createSelection } from "./sample-operation.ts";

/** Returns the cost of a field in words; null when it is free. src/graphql/operation-size.ts computes it. */
export function describeCost(model: Model, owner: string, field: Field): string | null {
  const { rowsPerCall } = field.extensions;
  const call = rowsPerCall ? `${points(rowsPerCall / rowsPerPoint)} for the call` : null;
  return [call, describeRows(model, owner, field)].filter(Boolean).join(", and ") || null;
}

function describeRows(model: Model, owner: string, field: Field): string | null {
  if (owner === model.schema.getMutationType()?.name)
    return `${pointsPerMutation} points, one for every ${rowsPerPoint} elements of its input, and the cost of its payload`;
  const target = getNamedType(field.type);
  if (owner.endsWith("Edge")) return null;
  const added = countPointsInList(model, owner, field);
  if (added > 0) return points(added);
  if (getEntryType(target) !== null)
    return `1 point, and one for every ${rowsPerPoint} rows of a page (${defaultPageSize} by default, at most ${maxPageSize})`;
  if (!isInterfaceType(target) && !(isObjectType(target) && target.getInterfaces().length > 0)) return null;
  if (!isListType(getNullableType(field.type))) return "1 point, and its row";
  const { payloadBound: bound } = field.extensions;
  const lines = [...(bound?.perLine ?? [])].map(([name, times]) => `${times} for each of \`${name}\``);
  const most = bound === undefined ? [`${maxPageSize}`] : bound.atMost > 0 ? [String(bound.atMost)] : [];
  return `1 point, and one for every ${rowsPerPoint} rows, of which there are at most ${[...lines, ...most].join(" and ")}`;
}

const points = (count: number): string => `${count} ${count === 1 ? "point" : "points"}`;

/** The points of a relation in a filter: one as for any relation, and some for the rows that Postgres reads. */
const pointsPerHop = 1 + rowsPerRelation / rowsPerPoint;

/** A field of a filter. */
export type Condition = Pick<GraphQLInputField, "name" | "type"> & { extensions: object };

/** Returns the cost of a filter's field; null if only its content has a cost. src/graphql/given-argument.ts computes it. */
export function describeConditionCost({ name, type, extensions }: Condition): string | null {
  const target = getNamedType(type);
  if (isInputObjectType(target)) {
    if (["some", "none", "every"].includes(name)) return points(pointsPerHop);
    const { indexes } = extensions as GraphQLInputFieldExtensions;
    return indexes && target.name.endsWith("FilterInput") ? points(pointsPerHop) : null;
  }
  const rows = comparisonRows(name);
  if (rows > 1) return `${points(rows / rowsPerPoint)}: no index supports it`;
  return `a point for every ${rowsPerPoint} ${isListType(getNullableType(type)) ? "values" : "comparisons"}`;
}

/** Returns the points that a field adds to the cost of a list, apart from its entries. Counts and sums, for example, add some. */
function countPointsInList(model: Model, owner: string, { name, type }: Field): number {
  const list = model.queries.find(({ type: listType }) => getNamedType(listType).name === owner);
  const isOfEntries = !list || getEntryType(getNamedType(type)) !== null;
  if (isOfEntries || !isObjectType(getNamedType(type))) return 0;
  const pointsWith = (inner: string) => {
    const document = parse(`{ ${list.name}(first: 0) { ${inner} } }`, { noLocation: true });
    return computeCost(operationSize(model.schema, document, null, {}));
  };
  return pointsWith(`${name}${createSelection(type)}`) - pointsWith("__typename");
}
