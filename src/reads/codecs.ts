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
export const getElementCodec = ({ arrayOfCodec }: PgCodec) => arrayOfCodec as PgCodec | undefined;

/** Returns the codec that a domain is based on; undefined for other codecs. */
export const getDomainCodec = ({ domainOfCodec }: PgCodec) => domainOfCodec as PgCodec | undefined;

/** Returns the attributes of a composite by name, such as the columns of a view; none for other codecs. */
export const listAttributes = ({ attributes }: PgCodec): [name: string, attribute: PgCodecAttribute][] =>
  Object.entries(attributes ?? {});

/** Returns the codec below all domains; other codecs are returned unchanged. */
export function getBaseCodec(codec: PgCodec): PgCodec {
  const inner = getDomainCodec(codec);
  return inner ? getBaseCodec(inner) : codec;
}

/** Returns the name of a codec's type in Postgres. */
export const getPgTypeName = (codec: PgCodec): string => codec.extensions?.pgType ?? codec.name;
