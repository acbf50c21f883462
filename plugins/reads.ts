import type {} from "postgraphile";
import type { GrafastExecutionArgs } from "postgraphile/grafast";
import { getOperationAST, OperationTypeNode } from "postgraphile/graphql";
import { answerBy } from "../src/reads/answer.ts";
import { findSource, findRows } from "./lib/find-field-source.ts";
import { register } from "../src/reads/field-source.ts";
import type { ReadExecutor } from "../src/reads/counts.ts";
import { readCounts } from "../src/reads/counts.ts";
import { readStatementOf } from "../src/reads/statements.ts";

/** Called with the executor of a read operation, twice if it first seemed to go by SQL. */
export type OnRead = (executor: ReadExecutor, args: GrafastExecutionArgs) => void;

const isQuery = ({ document, operationName }: GrafastExecutionArgs): boolean =>
  getOperationAST(document, operationName)?.operation === OperationTypeNode.QUERY;

/**
 * Answers read operations by one SQL statement each, which makes the finished JSON text.
 *
 * It learns the sources of fields while the schema is built, and accepts an operation only when it knows all parts.
 * Everything else goes to Grafast, whose answers are the standard: test/reads compares them. docs/performance.md says
 * what is covered.
 */
export const makeReadsPlugin = (onRead: OnRead = () => {}): GraphileConfig.Plugin => ({
  name: "ReadsPlugin",
  description: "Answers read operations by one SQL statement each",
  version: "1.0.0",
  schema: {
    hooks: {
      GraphQLObjectType(config, build, { scope }) {
        const rows = scope.isPgClassType ? findRows(build, scope.pgCodec) : undefined;
        if (rows) config.extensions = { ...config.extensions, rows };
        return config;
      },
      GraphQLObjectType_fields_field: {
        // Before the plugins that replace plans, so that it sees the library's own plans.
        before: ["ConnectionsPlugin", "ListColumnsPlugin", "GlobalNodePlugin"],
        callback(field, build, { Self, scope }) {
          const source = findSource(build, Self.name, scope);
          if (!source) return field;
          register(field.plan);
          field.extensions = { ...field.extensions, source };
          return field;
        },
      },
    },
  },
  grafast: {
    middleware: {
      execute: {
        // Checks that refuse operations come first.
        after: ["ScopeCheckPlugin"],
        callback(next, { args }) {
          const statement = readStatementOf(args);
          const byGrafast = () => {
            readCounts.grafast++;
            onRead("grafast", args);
            return next();
          };
          if (statement === null) return isQuery(args) ? byGrafast() : next();
          onRead("sql", args);
          return answerBy(statement, args, byGrafast);
        },
      },
    },
  },
});
