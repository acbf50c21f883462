import { nameOperation } from "../graphql/signature.ts";
import type { ReadableOperation } from "./operation.ts";

/**
 * A statement with a comment that says of which operation it is, in the form of sqlcommenter. Nothing in it is a client's
 * word. Statements that are the same but for it are prepared once.
 */
export function commented(text: string, { schema, definition, fragments }: ReadableOperation): string {
  const { id, version } = nameOperation(schema, definition, fragments);
  return `${text} /*operation='${id}',version='${encodeURIComponent(version)}'*/`;
}
