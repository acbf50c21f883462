const [quote, backslash, comma, colon, list, object, objectEnd] = [0x22, 0x5c, 0x2c, 0x3a, 0x5b, 0x7b, 0x7d];

/** Maximum number of lists, objects and members: a megabyte of nothing else would take 100 ms to parse. */
const maxCount = 50_000;
/** Maximum number of members of objects with new shapes: more would take longer than 15 ms to parse. */
const maxNewMembers = 10_000;

/** A secret start value of the hash: without it, nobody can make texts with equal hashes. */
const seed = Math.trunc(Math.random() * 2 ** 32) | 0;
/** The prime of the hash FNV-1a. */
const prime = 16_777_619;

/** Length of a text that is quick to parse, whatever its content. */
export const quickJsonLength = 8_192;

/** Returns the excess of a text, see {@link JsonSize.excess}. */
export function findExcess(text: string): string | null {
  if (text.length < quickJsonLength) return null;
  const size = new JsonSize();
  size.add(Buffer.from(text));
  return size.excess;
}

/** An object that hasn't ended: a hash of its members' names, and how many it has. */
interface OpenObject {
  names: number;
  members: number;
}

/**
 * Measures JSON as it arrives, so that text that would take long to parse is refused before. The content of strings doesn't
 * count.
 *
 * Objects with the same members in the same order share a shape, which makes them quick to parse. Each member of a new
 * shape takes some fifty times as long.
 */
export class JsonSize {
  #count = 0;
  #membersOfEnded = 0;
  readonly #shapes = new Set<number>();
  readonly #openObjects: OpenObject[] = [];
  #isString = false;
  #isEscaped = false;
  /** Whether a member's value comes next: a string there isn't a name. */
  #isValue = false;
  /** Hash of the current or last string. */
  #hash = seed;

  /** Members of objects whose shape no earlier one has: a hundred take a fifth of a millisecond to parse. */
  get newMembers(): number {
    return this.#openObjects.reduce((sum, { members }) => sum + members, this.#membersOfEnded);
  }

  /** Names the part of which there is too much, to follow “The body has”; null when there is none. */
  get excess(): string | null {
    if (this.#count > maxCount) return `more than ${maxCount} lists, objects and members`;
    if (this.newMembers <= maxNewMembers) return null;
    return `objects that differ in their members, with more than ${maxNewMembers} members`;
  }

  add(chunk: Buffer): void {
    let [count, hash] = [this.#count, this.#hash];
    let [isString, isEscaped, isValue] = [this.#isString, this.#isEscaped, this.#isValue];
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk[at]!;
      if (isString) {
        if (code === quote && !isEscaped) isString = isValue = false;
        else {
          if (!isValue) hash = Math.imul(hash ^ code, prime);
          isEscaped = code === backslash && !isEscaped;
        }
      } else if (code === quote) [isString, hash] = [true, seed];
      else if (code === colon) {
        count++;
        isValue = true;
        this.#member(hash);
      } else if (code === list) count++;
      else if (code === object) {
        count++;
        isValue = false;
        this.#openObjects.push({ names: seed, members: 0 });
      } else if (code === comma) isValue = false;
      else if (code === objectEnd) this.#end();
    }
    this.#count = count;
    this.#isString = isString;
    this.#isEscaped = isEscaped;
    this.#isValue = isValue;
    this.#hash = hash;
  }

  #member(hash: number): void {
    const open = this.#openObjects.at(-1);
    if (!open) return;
    open.names = Math.imul(open.names ^ hash, prime) + 1;
    open.members++;
  }

  #end(): void {
    const { names, members } = this.#openObjects.pop() ?? { names: seed, members: 0 };
    if (members === 0 || this.#shapes.has(names)) return;
    this.#membersOfEnded += members;
    this.#shapes.add(names);
  }
}
