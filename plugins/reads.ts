import type { PgCodec, PgCodecAttribute, PgResource } from "postgraphile/@dataplan/pg";
import type { GrafastExecutionArgs } from "postgraphile/grafast";
import { getOperationAST, OperationTypeNode } from "postgraphile/graphql";
import { answerByStatement, readCounts } from "../src/reads/answer-by-statement.ts";
import { listAttributes } from "../src/reads/codecs.ts";
import type { FieldSource } from "../src/reads/field-source.ts";
import { withSource } from "../src/reads/field-source.ts";
import { compileReadRequest } from "../src/reads/statements.ts";
import { findAggregate } from "./lib/aggregate-specs.ts";
import type { FieldScope } from "./lib/views.ts";
import { findHop, findKeyedView } from "./lib/views.ts";

const isQuery = ({ document, operationName }: GrafastExecutionArgs): boolean =>
  getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY;

/**
 * Answers each read operation by one SQL statement, which returns the finished JSON text.
 *
 * It declares the sources of the library's fields; other plugins declare the sources of theirs. An operation is accepted
 * only if all its parts have one. Everything else goes to Grafast, whose results are the reference: test/reads compares
 * both. docs/internals/fast-paths.md says what is covered.
 */
export const ReadsPlugin: GraphileConfig.Plugin = {
  name: "ReadsPlugin",
  description: "Answers read operations by one SQL statement each",
  schema: {
    hooks: {
      GraphQLObjectType(config, build, { scope }) {
        const rows = scope.isPgClassType ? findKeyedView(build, scope.pgCodec) : undefined;
        if (rows) config.extensions = { ...config.extensions, rows };
        return config;
      },
      GraphQLObjectType_fields_field: (field, build, { scope }) =>
        withSource(findLibrarySource(build, scope), field),
    },
  },
  grafast: {
    middleware: {
      execute: {
        // Checks that refuse operations come first.
        after: ["ScopesPlugin"],
        callback(next, { args }) {
          const statement = compileReadRequest(args);
          const { onRead } = args.contextValue as Grafast.Context;
          const byGrafast = () => {
            readCounts.grafast++;
            onRead?.("grafast");
            return next();
          };
          if (statement === null) return isQuery(args) ? byGrafast() : next();
          onRead?.("sql");
          return answerByStatement(statement, args, byGrafast);
        },
      },
    },
  },
};

/** Returns the source of a field with the library's own plan, from the scope that the library gives it. */
function findLibrarySource(build: GraphileBuild.Build, scope: FieldScope): FieldSource | undefined {
  const { fieldName } = scope;
  if (scope.pgFieldAttribute) return findColumnSource(scope);
  if (scope.isPgSingleRelationField) {
    const hop = scope.pgRefDetails ? undefined : findHop(scope);
    return hop && { kind: "related", hop };
  }
  if (scope.isConnectionType && fieldName === "edges") return { kind: "edges" };
  if (scope.isConnectionEdgeType && fieldName === "node") return { kind: "entry" };
  if (scope.isPgAggregateField) return { kind: "aggregate" };
  if (scope.isPgConnectionAggregateField) {
    const { pgTypeResource, pgAggregateSpec } = scope;
    const aggregate = findAggregate(build, pgTypeResource as PgResource, pgAggregateSpec!, fieldName);
    return aggregate && { kind: "aggregated", aggregate };
  }
  return undefined;
}

/** Returns the source of a field that shows a column. */
export function findColumnSource({
  pgCodec,
  pgFieldAttribute: attribute,
}: FieldScope): (FieldSource & { kind: "column" }) | undefined {
  if (!attribute || attribute.via || attribute.identicalVia) return undefined;
  const columns = pgCodec ? listAttributes(pgCodec as PgCodec) : [];
  const name = columns.find(([, candidate]) => candidate === attribute)?.[0];
  return name === undefined ? undefined : { kind: "column", name, attribute: attribute as PgCodecAttribute };
}
