import type {} from "postgraphile";
import type { PgCodec, PgCodecAttribute } from "postgraphile/@dataplan/pg";

declare global {
  namespace DataplanPg {
    interface PgCodecExtensions {
      /** The name of the type in Postgres, where the codec has another name. */
      pgType?: string;
      /** The schema of the type's operators, where they aren't Postgres' own. */
      operatorsIn?: string;
    }
  }
}

// The library knows what codecs are made of, but types most of it as `any`.

/** The codec of a list's elements; undefined for other codecs. */
export const elementOf = ({ arrayOfCodec }: PgCodec) => arrayOfCodec as PgCodec | undefined;

/** The codec below a domain; undefined for other codecs. */
export const innerOf = ({ domainOfCodec }: PgCodec) => domainOfCodec as PgCodec | undefined;

/** The attributes of a composite, such as the columns of a view, by name; none for other codecs. */
export const attributesOf = ({ attributes }: PgCodec): [name: string, attribute: PgCodecAttribute][] =>
  Object.entries(attributes ?? {});

/** What a domain is made of in the end; other codecs are that themselves. */
export function baseOf(codec: PgCodec): PgCodec {
  const inner = innerOf(codec);
  return inner ? baseOf(inner) : codec;
}

/** The name of a codec's type in Postgres. */
export const pgTypeOf = (codec: PgCodec): string => codec.extensions?.pgType ?? codec.name;
