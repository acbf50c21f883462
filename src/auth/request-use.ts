import type { StatementRun, StatementUse } from "../postgres/pipeline/transaction-settings.ts";
import type { RequestTrace } from "../tracing/spans.ts";
import type { OperationUse } from "./operation-use.ts";

/** A request's use of the database: for its log line, its trace, and the statistics of its operation. */
export class RequestUse implements StatementUse {
  readonly operationUse: OperationUse;
  readonly trace: RequestTrace | null;
  statements = 0;
  rows = 0;
  ms = 0;
  /** The slowest statement, with parameters instead of values. */
  slowest: StatementRun | null = null;

  constructor(operationUse: OperationUse, trace: RequestTrace | null) {
    this.operationUse = operationUse;
    this.trace = trace;
  }

  get applicationName(): string {
    return this.operationUse.applicationName;
  }

  note(ran: StatementRun): void {
    this.operationUse.note(ran);
    this.trace?.addStatement(ran);
    this.statements++;
    this.rows += ran.rows;
    this.ms += ran.ms;
    if (this.slowest === null || ran.ms > this.slowest.ms) this.slowest = ran;
  }

  /** Returns the properties for log lines. */
  get logged() {
    const { id, name, version } = this.operationUse.operation;
    return {
      operation: { id, name, version },
      credentialId: this.operationUse.credentialId,
      ...(this.trace && { traceId: this.trace.traceId }),
    };
  }
}
