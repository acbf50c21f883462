import type { ASTVisitor, ValidationContext, ValueNode } from "postgraphile/graphql";
import { getNamedType, GraphQLError, visit } from "postgraphile/graphql";

/** Scalars whose numbers have as many digits as they are given. */
const unbounded = new Set(["BigInt", "Decimal"]);

/**
 * Refuses literals for which graphql-js makes another value than what was written: a number beyond those of floating
 * point, which would be infinite, and so null as JSON; and a word without quotation marks within JSON, which would be left out.
 */
export function LiteralRule(context: ValidationContext): ASTVisitor {
  const typeName = (): string | undefined => getNamedType(context.getInputType())?.name;
  const refuse = (message: string, nodes: ValueNode): void =>
    context.reportError(new GraphQLError(message, { nodes }));
  const checkNumber = (node: ValueNode & { value: string }): void => {
    if (Number.isFinite(Number(node.value)) || unbounded.has(typeName() ?? "")) return;
    const shown = node.value.length > 40 ? `${node.value.slice(0, 40)}…` : node.value;
    refuse(`${shown} is too large for a number of floating point.`, node);
  };
  const numbers = { FloatValue: checkNumber, IntValue: checkNumber };
  const within: ASTVisitor = {
    ...numbers,
    EnumValue: (node) => refuse(`JSON has no ${node.value}. Texts need quotation marks.`, node),
  };
  // Nothing in it has a type of its own
  const checkJson = (node: ValueNode): false | undefined => {
    if (typeName() !== "JSON") return undefined;
    visit(node, within);
    return false;
  };
  return { ...numbers, ListValue: checkJson, ObjectValue: checkJson };
}
