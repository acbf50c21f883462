import type { PgCodec, PgCodecAttribute } from "postgraphile/@dataplan/pg";

// The library knows the parts of codecs, but types most of them as `any`.

/** The codec of a list's elements; undefined for other codecs. */
export const elementOf = ({ arrayOfCodec }: PgCodec) => arrayOfCodec as PgCodec | undefined;

/** The codec below a domain; undefined for other codecs. */
export const innerOf = ({ domainOfCodec }: PgCodec) => domainOfCodec as PgCodec | undefined;

/** The attributes of a composite, such as the columns of a view, by name; none for other codecs. */
export const attributesOf = ({ attributes }: PgCodec): [name: string, attribute: PgCodecAttribute][] =>
  Object.entries(attributes ?? {});
