import type { DocumentNode, FragmentDefinitionNode, SelectionSetNode } from "postgraphile/graphql";
import { Kind } from "postgraphile/graphql";

/** Selection sets by their fields' names in the response. */
type Fields = Map<string, (SelectionSetNode | undefined)[]>;

/** Stops counting, because the limit is exceeded. */
class LimitExceeded extends Error {}

/**
 * Whether validating a document would take too long. To find out whether fields of the same name can be merged,
 * graphql-js compares each with each, and neighbouring fragments too. This counts those comparisons, and stops at the
 * maximum, so that counting is fast as well.
 *
 * @param max allowed comparisons
 */
export function needsManyComparisons(document: DocumentNode, max: number): boolean {
  const counting = new ComparisonCounter(document, max);
  try {
    for (const definition of document.definitions)
      if ("selectionSet" in definition) counting.countBelow(definition.selectionSet);
    return false;
  } catch (error) {
    if (error instanceof LimitExceeded) return true;
    throw error;
  }
}

class ComparisonCounter {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  #left: number;

  constructor({ definitions }: DocumentNode, max: number) {
    const fragments = definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);
    this.#fragments = new Map(
      (fragments as FragmentDefinitionNode[]).map((fragment) => [fragment.name.value, fragment]),
    );
    this.#left = max;
  }

  /** Counts the comparisons within a selection set and those below it. */
  countBelow(set: SelectionSetNode): void {
    this.#count([set]);
    for (const selection of set.selections)
      if (selection.kind !== Kind.FRAGMENT_SPREAD && selection.selectionSet)
        this.countBelow(selection.selectionSet);
  }

  /** Counts the comparisons between merged selection sets. */
  #count(sets: readonly SelectionSetNode[]): void {
    const fields: Fields = new Map();
    const spread = new Set<string>();
    for (const set of sets) this.#collect(set, fields, spread);
    // Each fragment is compared with each, by the names of its fields
    this.#spend(spread.size * spread.size);
    for (const same of fields.values()) {
      if (same.length < 2) continue;
      this.#spend((same.length * (same.length - 1)) / 2);
      const below = same.filter((set) => set !== undefined);
      if (below.length > 1) {
        this.#spend(below.length * below.length);
        this.#count(below);
      }
    }
  }

  #collect(set: SelectionSetNode, fields: Fields, spread: Set<string>): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value;
        const same = fields.get(name);
        if (same) same.push(selection.selectionSet);
        else fields.set(name, [selection.selectionSet]);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        this.#collect(selection.selectionSet, fields, spread);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = this.#fragments.get(selection.name.value);
        if (fragment) {
          this.#spend(fragment.selectionSet.selections.length);
          this.#collect(fragment.selectionSet, fields, spread);
        }
      }
    }
  }

  #spend(comparisons: number): void {
    this.#left -= comparisons;
    if (this.#left < 0) throw new LimitExceeded();
  }
}
