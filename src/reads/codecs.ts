import type {} from "postgraphile";
import type { PgCodec, PgCodecAttribute } from "postgraphile/@dataplan/pg";

declare global {
  namespace DataplanPg {
    interface PgCodecExtensions {
      /** The name of the type in Postgres, if the codec has another name. */
      pgType?: string;
      /** The schema of the type's operators, if they aren't in `pg_catalog`. */
      operatorsIn?: string;
    }
  }
}

// The library types most properties of codecs as `any`.

/** Returns the codec of a list's elements; undefined for other codecs. */
export const elementOf = ({ arrayOfCodec }: PgCodec) => arrayOfCodec as PgCodec | undefined;

/** Returns the codec that a domain is based on; undefined for other codecs. */
export const innerOf = ({ domainOfCodec }: PgCodec) => domainOfCodec as PgCodec | undefined;

/** Returns the attributes of a composite by name, such as the columns of a view; none for other codecs. */
export const attributesOf = ({ attributes }: PgCodec): [name: string, attribute: PgCodecAttribute][] =>
  Object.entries(attributes ?? {});

/** Returns the codec below all domains; other codecs are returned unchanged. */
export function baseOf(codec: PgCodec): PgCodec {
  const inner = innerOf(codec);
  return inner ? baseOf(inner) : codec;
}

/** Returns the name of a codec's type in Postgres. */
export const pgTypeOf = (codec: PgCodec): string => codec.extensions?.pgType ?? codec.name;
