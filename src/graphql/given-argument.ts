import type { FieldNode, OperationDefinitionNode, ValueNode } from "postgraphile/graphql";
import { Kind, valueFromASTUntyped } from "postgraphile/graphql";
import type { PayloadBound } from "./payload-bound.ts";
import { defaultBound } from "./payload-bound.ts";
import { maximalPageSize } from "./page-size.ts";
import type { Variables } from "./operation.ts";

/** Operators that no index answers: they look at one row after the other. */
const scanning = new Set(["contains", "endsWith"]);
/** Rows that such a comparison counts as. Any other counts as one. */
const rowsPerScan = 20;

/** An argument, such as the input of a mutation, as far as it is known before it is checked: anything may be in it. */
export class GivenArgument {
  readonly #value: unknown;
  /** Whether variables have a part in it, so that it is another one each time. */
  readonly isVariable: boolean;

  constructor(node: FieldNode, argument: string, operation: OperationDefinitionNode, variables: Variables) {
    const given = node.arguments?.find(({ name }) => name.value === argument)?.value;
    this.isVariable = given !== undefined && hasVariable(given);
    this.#value = given && valueFromASTUntyped(given, withDefaults(operation, variables));
  }

  /** Elements of all lists in it. */
  get lines(): number {
    return elementsIn(this.#value);
  }

  /** What its comparisons, when it is a filter, weigh in rows. */
  get comparisons(): number {
    let rows = 0;
    forEachPart(this.#value, (value, name) => {
      if (Array.isArray(value)) rows += value.filter((part) => !isObject(part)).length;
      else if (!isObject(value)) rows += scanning.has(name) ? rowsPerScan : 1;
    });
    return rows;
  }

  /** Rows that a list of the payload can have. A list that isn't given may stand for anything. */
  rowsWithin({ atMost, perLine }: PayloadBound = defaultBound): number {
    let rows = atMost;
    for (const [field, each] of perLine) {
      const list =
        isObject(this.#value) && Object.hasOwn(this.#value, field) ? this.#value[field] : undefined;
      if (list !== undefined && list !== null) rows += each * lengthOf(list);
      else if (atMost === 0) rows += each * maximalPageSize;
    }
    return rows;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** A single value stands for a list of one. Of more than can be given, nothing is done. */
const lengthOf = (value: unknown): number =>
  Math.min(Array.isArray(value) ? value.length : 1, maximalPageSize);

/** Without recursion: what clients send may be nested more deeply than that can go. Elements of lists have no name. */
function forEachPart(value: unknown, look: (value: unknown, name: string) => void): void {
  const left: [value: unknown, name: string][] = [[value, ""]];
  for (let next; (next = left.pop());) {
    const [part, name] = next;
    if (part === undefined) continue;
    look(part, name);
    if (Array.isArray(part)) for (const each of part) if (isObject(each)) left.push([each, ""]);
    if (isObject(part) && !Array.isArray(part)) left.push(...swapped(part));
  }
}

const swapped = (object: Record<string, unknown>): [unknown, string][] =>
  Object.entries(object).map(([name, value]) => [value, name]);

function elementsIn(value: unknown): number {
  let count = 0;
  forEachPart(value, (part) => {
    if (Array.isArray(part)) count += part.length;
  });
  return count;
}

function hasVariable(node: ValueNode): boolean {
  if (node.kind === Kind.VARIABLE) return true;
  if (node.kind === Kind.LIST) return node.values.some(hasVariable);
  return node.kind === Kind.OBJECT && node.fields.some(({ value }) => hasVariable(value));
}

function withDefaults(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
): Variables {
  const defaults = variableDefinitions.flatMap(({ variable: { name }, defaultValue }) =>
    defaultValue && variables[name.value] === undefined
      ? [[name.value, valueFromASTUntyped(defaultValue)]]
      : [],
  );
  return defaults.length > 0 ? { ...variables, ...Object.fromEntries(defaults) } : variables;
}
