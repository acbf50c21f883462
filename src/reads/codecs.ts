import type { PgCodec, PgCodecAttribute } from "postgraphile/@dataplan/pg";

// The library knows what codecs are made of, but types most of it as `any`.

/** What a list has elements of; undefined of other codecs. */
export const elementOf = ({ arrayOfCodec }: PgCodec) => arrayOfCodec as PgCodec | undefined;

/** What a domain is of; undefined of other codecs. */
export const innerOf = ({ domainOfCodec }: PgCodec) => domainOfCodec as PgCodec | undefined;

/** The attributes of a composite, such as the columns of a view, by their names; none of other codecs. */
export const attributesOf = ({ attributes }: PgCodec): [name: string, attribute: PgCodecAttribute][] =>
  Object.entries(attributes ?? {});
