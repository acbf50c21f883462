import { createHash } from "node:crypto";
import type { FieldNode, GraphQLObjectType } from "postgraphile/graphql";
import { getNamedType, isInterfaceType, isNonNullType, isObjectType } from "postgraphile/graphql";
import { sql } from "postgraphile/pg-sql2";
import type { Given } from "./arguments.ts";
import type { Slot } from "./compilation.ts";
import { commented } from "./comment.ts";
import { Compilation, fromOf, typename, understood } from "./compilation.ts";
import type { Piece } from "./json-text.ts";
import { concatenated, expression, json, objectPieces, textOfSql } from "./json-text.ts";
import { orderOf, parameterType } from "./keys.ts";
import { listExpression } from "./lists.ts";
import { rowsOfType } from "./field-source.ts";
import { nodesExpression } from "./nodes.ts";
import { objectExpression, returnedExpression } from "./objects.ts";
import type { Coerced, ReadableOperation, SelectedField } from "./operation.ts";
import { NotCovered } from "./operation.ts";

/** An operation as one SQL statement, which returns one row with one column: the data as JSON text. */
export interface CompiledRead {
  text: string;
  /** Equal for equal texts, but for their comments. */
  name: string;
  slots: readonly Slot[];
}

/** @throws {NotCovered} when some part of the operation has no known SQL form */
export function compile(
  operation: ReadableOperation,
  variables: Coerced,
  given: ReadonlyMap<FieldNode, Given>,
): CompiledRead {
  const compilation = new Compilation(operation, variables, given);
  const query = operation.schema.getQueryType()!;
  const set = { below: [operation.definition.selectionSet] };
  const fields = compilation.select(query, set).map(([key, selected]) => {
    return [
      key,
      selected.name === "__typename" ? typename(query) : [root(compilation, query, selected)],
    ] as const;
  });
  const text = `select ${concatenated(objectPieces(fields))}`;
  return { text: commented(text, operation), name: nameOf(text), slots: compilation.slots };
}

/** The name of a statement: equal for equal texts. */
export const nameOf = (text: string): string =>
  createHash("sha256").update(text).digest("base64url").slice(0, 32);

function root(compilation: Compilation, query: GraphQLObjectType, selected: SelectedField): Piece {
  const { field, source } = understood(query, selected.name);
  if (source.kind === "list")
    return expression(listExpression(compilation, field, source, selected, null, objectExpression));
  if (source.kind === "returned")
    return expression(returnedExpression(compilation, field, source, selected, null));
  if (source.kind === "nodes") return nodesExpression(compilation, selected, objectExpression);
  if (source.kind !== "row" && source.kind !== "node") throw new NotCovered(source.kind);
  if (isNonNullType(field.type)) throw new NotCovered("a row that must be there");
  const { typeName } = compilation.given.get(selected.node)!;
  const named = getNamedType(field.type);
  const type = isInterfaceType(named) ? compilation.operation.schema.getType(typeName!) : named;
  // An id of a type that doesn't exist leads to nothing.
  if (!isObjectType(type) || !type.getInterfaces().some(({ name }) => name === "Node")) return json("null");
  const rows = rowsOfType(type);
  if (!rows) throw new NotCovered(`rows of ${type.name}`);
  const alias = compilation.alias();
  const compared = orderOf(rows.key, sql.identifier(alias)).map((column, index) => {
    const type = textOfSql(parameterType(rows.key[index]!));
    return `${textOfSql(column)}=${compilation.parameter(selected.node, index, type)}`;
  });
  const object = objectExpression(compilation, type, selected, alias);
  return expression(
    `coalesce((select ${object} from ${fromOf(rows.resource)} ${alias} where ${compared.join(" and ")}),'null')`,
  );
}
