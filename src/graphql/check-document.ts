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
import { needsManyComparisons } from "./repeated-fields.ts";

/** Maximum comparisons of fields to validate a document: some 20 ms. */
const maxComparisons = 40_000;

/** Rules about values, which need the schema's own scalars. */
export const valueRules: readonly ValidationRule[] = [ValuesOfCorrectTypeRule, LiteralRule];
/** All other rules. */
export const otherRules = specifiedRules.filter((rule) => !valueRules.includes(rule));
const allRules = [...otherRules, ...valueRules];

/** A parsed document within the limits, or its errors. */
export type Parsed = { document: DocumentNode; nodes: number; errors?: never } | Refused;

/** Errors of a document. */
export interface Refused {
  errors: readonly GraphQLError[];
}

export const makeSource = (text: string): Source => new Source(text, "GraphQL request");

/** Parses a document and checks its limits. Validation comes after it: its time grows with the square of the limits. */
export function parseWithin(text: string, limits: Limits): Parsed {
  try {
    const document = parse(makeSource(text), { maxTokens: limits.tokens });
    const size = measureDocument(document);
    const excess = checkDocumentSize(document, size, limits);
    return excess ? { errors: [excess] } : { document, nodes: size.nodes };
  } catch (error) {
    return { errors: [documentError(error)] };
  }
}

/** Returns the errors of a document that is within the limits; none if it is valid. */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = allRules,
): GraphQLError[] {
  const errors = [
    ...validate(schema, document, rules),
    ...findForeignOperations(schema, document),
    ...findInheritedNames(document),
  ];
  return errors.map(documentError);
}

/** Returns errors for kinds of operations that the schema lacks, such as subscriptions. No rule of graphql-js checks that. */
function findForeignOperations(schema: GraphQLSchema, { definitions }: DocumentNode): GraphQLError[] {
  return definitions
    .filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
    .filter(({ operation }) => !schema.getRootType(operation))
    .map((node) => new GraphQLError(`There is no ${node.operation} in this schema.`, { nodes: node }));
}

/**
 * Returns errors for variables named like a property of every JavaScript object, such as `constructor`. Code that looks up
 * a variable by name would find one that wasn't given.
 */
function findInheritedNames({ definitions }: DocumentNode): GraphQLError[] {
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

function measureDocument(document: DocumentNode): DocumentSize {
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

/** Returns an error if a document exceeds a limit, else null. */
function checkDocumentSize(document: DocumentNode, found: DocumentSize, limits: Limits): GraphQLError | null {
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
  if (!needsManyComparisons(document, maxComparisons)) return null;
  const message = "The document repeats fields and fragments so often that checking it would take too long.";
  return apiError("QUERY_TOO_COMPLEX", message, { maximum: maxComparisons });
}

/** Gives an error of parsing or validation one of our codes. */
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

/** Scalars whose numbers may have any number of digits. */
const unbounded = new Set(["BigInt", "Decimal"]);

/**
 * Refuses literals that graphql-js would change. A number that is too large for floating point would become infinite, and so
 * null in JSON. A word without quotation marks within JSON would be left out.
 */
function LiteralRule(context: ValidationContext): ASTVisitor {
  const typeName = (): string | undefined => getNamedType(context.getInputType())?.name;
  const refuse = (message: string, nodes: ValueNode): void =>
    context.reportError(new GraphQLError(message, { nodes }));
  const checkNumber = (node: ValueNode & { value: string }): void => {
    if (Number.isFinite(Number(node.value)) || unbounded.has(typeName() ?? "")) return;
    const shown = node.value.length > 40 ? `${node.value.slice(0, 40)}…` : node.value;
    refuse(`${shown} is too large for a floating-point number.`, node);
  };
  const numbers = { FloatValue: checkNumber, IntValue: checkNumber };
  const within: ASTVisitor = {
    ...numbers,
    EnumValue: (node) => refuse(`JSON has no ${node.value}. Strings need quotation marks.`, node),
  };
  // Nothing within JSON has a type of its own
  const checkJson = (node: ValueNode): false | undefined => {
    if (typeName() !== "JSON") return undefined;
    visit(node, within);
    return false;
  };
  return { ...numbers, ListValue: checkJson, ObjectValue: checkJson };
}
