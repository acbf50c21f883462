import type {
  ASTNode,
  ASTVisitor,
  DocumentNode,
  GraphQLSchema,
  ValidationContext,
  ValidationRule,
  ValueNode,
} from "postgraphile/graphql";
import {
  getNamedType,
  GraphQLError,
  Kind,
  parse,
  Source,
  specifiedRules,
  validate,
  ValuesOfCorrectTypeRule,
  visit,
} from "postgraphile/graphql";
import { apiError } from "../errors/api-error.ts";
import type { Limits } from "./limits.ts";
import { comparesTooMuch } from "./repeated-fields.ts";

/** Comparisons of fields that validating a document may need: some 20 ms. */
const maxComparisons = 40_000;

/** Rules about values, which need the schema's own scalars. */
export const valueRules: readonly ValidationRule[] = [ValuesOfCorrectTypeRule, LiteralRule];
/** All other rules. */
export const otherRules = specifiedRules.filter((rule) => !valueRules.includes(rule));
const allRules = [...otherRules, ...valueRules];

/** A document that parsing found to be within the limits, or its errors. */
export type Parsed = { document: DocumentNode; nodes: number; errors?: never } | Refused;

/** Errors of a document. */
export interface Refused {
  errors: readonly GraphQLError[];
}

export const asSource = (text: string): Source => new Source(text, "GraphQL request");

/** Parses a document and compares it with the limits. Validation comes after it: its time grows with their square. */
export function parseWithin(text: string, limits: Limits): Parsed {
  try {
    const document = parse(asSource(text), { maxTokens: limits.tokens });
    const size = sizeOf(document);
    const excess = excessOf(document, size, limits);
    return excess ? { errors: [excess] } : { document, nodes: size.nodes };
  } catch (error) {
    return { errors: [documentError(error)] };
  }
}

/** Errors of a document that is within the limits; none when it is valid. */
export function errorsOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = allRules,
): GraphQLError[] {
  const errors = [
    ...validate(schema, document, rules),
    ...foreignOperations(schema, document),
    ...inheritedNames(document),
  ];
  return errors.map(documentError);
}

/**
 * Errors for kinds of operations that the schema doesn't have, such as subscriptions. No rule of graphql-js checks
 * that.
 */
function foreignOperations(schema: GraphQLSchema, { definitions }: DocumentNode): GraphQLError[] {
  return definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .filter(({ operation }) => !schema.getRootType(operation))
    .map((node) => new GraphQLError(`There is no ${node.operation} in this schema.`, { nodes: node }));
}

/**
 * Errors for variables named like a property of every JavaScript object, such as `constructor`. Code that looks up a
 * variable by name would find one that wasn't given.
 */
function inheritedNames({ definitions }: DocumentNode): GraphQLError[] {
  return definitions
    .flatMap((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? (definition.variableDefinitions ?? []) : [],
    )
    .filter(({ variable }) => variable.name.value in Object.prototype)
    .map(
      (node) =>
        new GraphQLError(`A variable can't be called "$${node.variable.name.value}".`, { nodes: node }),
    );
}

/** Counts of a document's parts. */
interface DocumentSize {
  nodes: number;
  aliases: number;
  directives: number;
  /** Nesting of selection sets. */
  depth: number;
}

function sizeOf(document: DocumentNode): DocumentSize {
  const size = { nodes: 0, aliases: 0, directives: 0, depth: 0 };
  let depth = 0;
  visit(document, {
    enter(node: ASTNode) {
      size.nodes++;
      if (node.kind === Kind.DIRECTIVE) size.directives++;
      if (node.kind === Kind.FIELD && node.alias && node.alias.value !== node.name.value) size.aliases++;
      if (node.kind === Kind.SELECTION_SET) size.depth = Math.max(size.depth, ++depth);
    },
    leave(node: ASTNode) {
      if (node.kind === Kind.SELECTION_SET) depth--;
    },
  });
  return size;
}

/** Which limit a document exceeds; null if none. */
function excessOf(document: DocumentNode, found: DocumentSize, limits: Limits): GraphQLError | null {
  for (const name of ["aliases", "directives"] as const) {
    if (found[name] <= limits[name]) continue;
    const message = `The document has ${found[name]} ${name}; ${limits[name]} are allowed.`;
    return apiError("QUERY_TOO_COMPLEX", message, { [name]: found[name], maximum: limits[name] });
  }
  // Introspection, to which the limit of depth doesn't apply, needs about 15
  const most = limits.depth + 13;
  if (found.depth > most) {
    const message = `The document is nested ${found.depth} deep; ${limits.depth} are allowed.`;
    return apiError("QUERY_TOO_DEEP", message, { depth: found.depth, maximum: limits.depth });
  }
  if (!comparesTooMuch(document, maxComparisons)) return null;
  const message = "The document repeats fields and fragments so often that checking it would take too long.";
  return apiError("QUERY_TOO_COMPLEX", message, { maximum: maxComparisons });
}

/** An error of parsing or validation, with one of our codes. */
function documentError(error: unknown): GraphQLError {
  if (error instanceof RangeError)
    return apiError("GRAPHQL_PARSE_FAILED", "The document is nested too deeply.");
  if (!(error instanceof GraphQLError)) throw error;
  const { message, nodes, source, positions } = error;
  const place = { nodes, source, positions };
  const tooLong = /contains more tha[nt] (\d+) tokens/.exec(message)?.[1];
  if (tooLong !== undefined) {
    const maximum = Number(tooLong);
    return apiError("QUERY_TOO_COMPLEX", `The document has more than ${maximum} tokens.`, { maximum }, place);
  }
  const isSyntaxError = message.startsWith("Syntax Error");
  const code = isSyntaxError ? "GRAPHQL_PARSE_FAILED" : "GRAPHQL_VALIDATION_FAILED";
  return apiError(code, message, {}, place);
}

/** Scalars whose numbers have as many digits as they are given. */
const unbounded = new Set(["BigInt", "Decimal"]);

/**
 * Refuses literals for which graphql-js makes another value than what was written: a number beyond those of floating
 * point, which would be infinite, and so null as JSON; and a word without quotation marks within JSON, which would be left out.
 */
function LiteralRule(context: ValidationContext): ASTVisitor {
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
