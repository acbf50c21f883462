const [quote, backslash, colon, list, object] = [0x22, 0x5c, 0x3a, 0x5b, 0x7b];

/** Counts the lists, objects and members of JSON as it arrives, before it is parsed. The content of strings doesn't count. */
export class JsonSize {
  count = 0;
  #isString = false;
  #isEscaped = false;

  add(chunk: Buffer): void {
    let [count, isString, isEscaped] = [this.count, this.#isString, this.#isEscaped];
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk[at]!;
      if (isEscaped) isEscaped = false;
      else if (code === quote) isString = !isString;
      else if (isString) isEscaped = code === backslash;
      else if (code === list || code === object || code === colon) count++;
    }
    this.count = count;
    this.#isString = isString;
    this.#isEscaped = isEscaped;
  }
}
