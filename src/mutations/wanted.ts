import { getArgumentValues, GraphQLError } from "postgraphile/graphql";
import { isApiError } from "../errors/api-error.ts";
import type { OperationRequest } from "../reads/statements.ts";
import { valuesOf } from "../reads/statements.ts";
import type { CompiledMutation } from "./compile.ts";
import { compiledMutationOf } from "./compile.ts";
import type { MutationCall } from "./run.ts";
import { textOfInput } from "./run.ts";

/** The mutation that a request asks for, and what it wants to know of it. */
export interface WantedMutation {
  compiled: CompiledMutation;
  call: MutationCall;
  /** Of a call that may be made with others: the product that it books. */
  joint: { product: string } | null;
  /** Values of the statement that reads its payload. */
  values: unknown[];
}

/** The mutation of a request; null to leave it to Grafast, which also says what is wrong with arguments. */
export function wantedMutationOf(request: OperationRequest): WantedMutation | null {
  const found = compiledMutationOf(request);
  if (found === null) return null;
  const { compiled, variables, given } = found;
  const { source, node, payload } = compiled;
  const field = request.schema.getMutationType()!.getFields()[node.name.value]!;
  try {
    const { input } = getArgumentValues(field, node, variables) as { input: Record<string, unknown> };
    const { idempotencyKey = null, validateOnly = false, ...fields } = input;
    const { version, operation } = source;
    const encoded = source.encode(fields);
    const call: MutationCall = {
      ...{ version, operation, input: textOfInput(encoded) },
      idempotencyKey: idempotencyKey as string | null,
      validateOnly: validateOnly as boolean | null,
    };
    const values = payload.statement ? valuesOf(payload.statement.slots, given) : [];
    return { compiled, call, joint: jointOf(call, encoded), values };
  } catch (error) {
    if (isApiError(error) || error instanceof GraphQLError) return null;
    throw error;
  }
}

/** Mutations that `mutation.run_together` knows. */
const jointOperations = new Set(["stock_adjust", "stock_set", "stock_transfer"]);

function jointOf({ operation, validateOnly }: MutationCall, encoded: unknown): WantedMutation["joint"] {
  if (!jointOperations.has(operation) || validateOnly !== false) return null;
  const { lines } = encoded as { lines?: { product_id?: unknown }[] | null };
  const product = lines?.length === 1 ? lines[0]!.product_id : undefined;
  return typeof product === "string" ? { product } : null;
}
