import type { FieldNode, GraphQLSchema } from "postgraphile/graphql";
import { getNamedType, isObjectType, OperationTypeNode } from "postgraphile/graphql";
import type { Given } from "../reads/arguments.ts";
import { understood } from "../reads/compilation.ts";
import type { CompiledPayload } from "../reads/compile-payload.ts";
import { compilePayload } from "../reads/compile-payload.ts";
import type { Coerced, ReadableOperation } from "../reads/selection.ts";
import { NotCovered, selectedFields } from "../reads/selection.ts";
import { prepareFields } from "../reads/prepare.ts";
import type { PreparedOperation } from "../reads/prepare.ts";
import type { Found, OperationRequest } from "../reads/statements.ts";
import { Compilations } from "../reads/statements.ts";
import type { MutationSource } from "./source.ts";

/** An operation of one mutation. */
export interface CompiledMutation {
  source: MutationSource;
  /** Its name in the answer. */
  key: string;
  node: FieldNode;
  /** The name of the payload's type. */
  typeName: string;
  payload: CompiledPayload;
}

function prepare(operation: ReadableOperation): PreparedOperation {
  if (operation.definition.operation !== OperationTypeNode.MUTATION) throw new NotCovered("no mutation");
  return prepareFields(operation, operation.schema.getMutationType()!);
}

function compile(
  operation: ReadableOperation,
  variables: Coerced,
  given: ReadonlyMap<FieldNode, Given>,
): CompiledMutation {
  const type = operation.schema.getMutationType()!;
  const selected = [...selectedFields(operation, type, [operation.definition.selectionSet], variables)];
  const [first] = selected;
  if (!first || selected.length > 1) throw new NotCovered("several mutations");
  const [key, part] = first;
  const { field } = understood(type, part.name);
  const { mutation: source } = field.extensions;
  const payloadType = getNamedType(field.type);
  if (!source || source.hasSecret || !isObjectType(payloadType)) throw new NotCovered(part.name);
  const payload = compilePayload(operation, variables, given, payloadType, part);
  return { source, key, node: part.node, typeName: payloadType.name, payload };
}

const compiler = {
  prepare,
  compile,
  textOf: ({ payload }: CompiledMutation) => payload.statement?.text ?? "",
};
const bySchema = new WeakMap<GraphQLSchema, Compilations<CompiledMutation>>();

/** The one mutation of a request, if its payload can be read by one statement; otherwise null. */
export function compiledMutationOf(request: OperationRequest): Found<CompiledMutation> | null {
  const { schema } = request;
  let compilations = bySchema.get(schema);
  if (!compilations) bySchema.set(schema, (compilations = new Compilations(compiler)));
  return compilations.find(request);
}
