import type { FieldNode, GraphQLSchema } from "postgraphile/graphql";
import {
  getArgumentValues,
  getNamedType,
  GraphQLError,
  isObjectType,
  OperationTypeNode,
} from "postgraphile/graphql";
import { isApiError } from "../errors/api-error.ts";
import { memoizeByObject } from "../lib/remembered.ts";
import type { FieldArguments } from "../reads/arguments.ts";
import { requireField } from "../reads/compilation.ts";
import type { CompiledPayload } from "../reads/compile-payload.ts";
import { compilePayload } from "../reads/compile-payload.ts";
import type { CoercedVariables, ReadableOperation } from "../reads/selection.ts";
import { UnsupportedOperation, selectedFields } from "../reads/selection.ts";
import { prepareFields } from "../reads/prepare.ts";
import type { PreparedOperation } from "../reads/prepare.ts";
import type { OperationRequest } from "../reads/statements.ts";
import { Compilations, collectValues } from "../reads/statements.ts";
import type { MutationCall } from "./run.ts";
import { serializeInput } from "./run.ts";
import type { MutationSource } from "./source.ts";

/** A compiled operation with one mutation. */
export interface CompiledMutation {
  source: MutationSource;
  /** Its name in the response. */
  key: string;
  node: FieldNode;
  /** The name of the payload's type. */
  typeName: string;
  payload: CompiledPayload;
}

/** The mutation of a request, with the payload fields that it selects. */
export interface RequestedMutation {
  compiled: CompiledMutation;
  call: MutationCall;
  /** Set if the call may join a group commit: calls with the same key keep their order. */
  groupKey: string | null;
  /** Values for the statement that reads its payload. */
  values: unknown[];
}

function prepare(operation: ReadableOperation): PreparedOperation {
  if (operation.definition.operation !== OperationTypeNode.MUTATION)
    throw new UnsupportedOperation("no mutation");
  return prepareFields(operation, operation.schema.getMutationType()!);
}

function compile(
  operation: ReadableOperation,
  variables: CoercedVariables,
  given: ReadonlyMap<FieldNode, FieldArguments>,
): CompiledMutation {
  const type = operation.schema.getMutationType()!;
  const [first, ...others] = selectedFields(operation, type, [operation.definition.selectionSet], variables);
  if (!first || others.length > 0) throw new UnsupportedOperation("several mutations");
  const [key, part] = first;
  const { field } = requireField(type, part.name);
  const { mutation: source } = field.extensions;
  const payloadType = getNamedType(field.type);
  if (!source || source.hasSecret || !isObjectType(payloadType)) throw new UnsupportedOperation(part.name);
  const payload = compilePayload(operation, variables, given, payloadType, part);
  return { source, key, node: part.node, typeName: payloadType.name, payload };
}

const compiler = {
  prepare,
  compile,
  textOf: ({ payload }: CompiledMutation) => payload.statement?.text ?? "",
};
const compilations = memoizeByObject<GraphQLSchema, Compilations<CompiledMutation>>(
  () => new Compilations(compiler),
);

/**
 * Returns the only mutation of a request, if one statement can read its payload. Otherwise null: Grafast runs the request, and
 * reports invalid arguments.
 */
export function compileMutationRequest(request: OperationRequest): RequestedMutation | null {
  const { schema } = request;
  const found = compilations(schema).find(request);
  if (found === null) return null;
  const { compiled, variables, fieldArguments: given } = found;
  const { source, node, payload } = compiled;
  const field = schema.getMutationType()!.getFields()[node.name.value]!;
  try {
    const { input } = getArgumentValues(field, node, variables) as { input: Record<string, unknown> };
    const { idempotencyKey = null, validateOnly = false, ...fields } = input;
    const encoded = source.encode(fields);
    const call: MutationCall = {
      version: source.version,
      operation: source.operation,
      input: serializeInput(encoded),
      idempotencyKey: idempotencyKey as string | null,
      validateOnly: validateOnly as boolean | null,
    };
    const groupKey = validateOnly === false ? readGroupKey(source, encoded) : null;
    const values = payload.statement ? collectValues(payload.statement.slots, given) : [];
    return { compiled, call, groupKey, values };
  } catch (error) {
    if (isApiError(error) || error instanceof GraphQLError) return null;
    throw error;
  }
}

function readGroupKey({ groupKeyField: together }: MutationSource, encoded: unknown): string | null {
  if (together === undefined) return null;
  const { lines } = encoded as { lines?: Record<string, unknown>[] | null };
  const key = lines?.length === 1 ? lines[0]![together] : undefined;
  return typeof key === "string" ? key : null;
}
