import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type pg from "pg";
import { useDatabase } from "../lib/database.ts";

interface Transition {
  machine: string;
  action: string;
  from_state: string;
  to_state: string;
  mutation: string | null;
}

describe("states", () => {
  const used = useDatabase("template_schema");
  let transitions: Transition[];
  before(async () => {
    transitions = (await used.client.query<Transition>("select * from erp.state_transition")).rows;
  });

  const next = async (machine: string, action: string, state: string) => {
    const { rows } = await used.client.query("select erp.next_state($1, $2, $3) as state", [
      machine,
      action,
      state,
    ]);
    return rows[0].state as string;
  };

  it("follow on each other as the table says, and in no other way", async () => {
    const machines = Map.groupBy(transitions, ({ machine }) => machine);
    assert.ok(machines.size >= 7);
    for (const [machine, own] of machines) {
      const states = new Set(own.flatMap(({ from_state: from, to_state: to }) => [from, to]));
      const actions = new Set(own.map(({ action }) => action));
      for (const state of states) {
        const allowed = own.filter(({ from_state: from }) => from === state);
        for (const action of actions) {
          const transition = allowed.find((candidate) => candidate.action === action);
          if (transition) assert.equal(await next(machine, action, state), transition.to_state);
          else {
            await assert.rejects(next(machine, action, state), (error: pg.DatabaseError) => {
              const [{ code, details }] = JSON.parse(error.detail!);
              assert.deepEqual(
                [error.code, code, details.state],
                ["UE001", "INVALID_STATE_TRANSITION", state],
              );
              const offered = allowed.filter(({ mutation }) => mutation !== null);
              assert.deepEqual(details.allowedActions, offered.map((candidate) => candidate.action).sort());
              return true;
            });
          }
        }
      }
    }
  });

  it("are offered to clients only where a mutation leads to them", async () => {
    const { rows } = await used.client.query(
      "select operation from mutation.operation where version = 'api_unstable'",
    );
    const mutations = new Set(rows.map(({ operation }) => operation));
    for (const { machine, action, mutation } of transitions)
      if (mutation !== null) assert.ok(mutations.has(mutation), `${machine} ${action}: ${mutation}`);
    // An action with a mutation of its own is that mutation; goodsReceiptCreate makes another receipt
    for (const { machine, action, mutation } of transitions)
      if (mutations.has(`${machine}_${action}`) && machine !== "goods_receipt")
        assert.equal(mutation, `${machine}_${action}`);
  });

  it("of every row that a machine has, are states of the machine", async () => {
    const tables: Record<string, string> = {
      goods_receipt: "erp.goods_receipt",
      order: "erp.sales_order",
      fulfillment_order: "erp.fulfillment_order",
      supplier_order: "erp.supplier_order",
      quote: "erp.quote",
      shipping_label: "erp.shipping_label",
    };
    for (const [machine, table] of Object.entries(tables)) {
      const { rows } = await used.client.query(
        `select pg_get_constraintdef(oid) as definition from pg_constraint
         where conrelid = '${table}'::regclass and conname like '%state_is_known'`,
      );
      const own = transitions.filter((transition) => transition.machine === machine);
      for (const { from_state: from, to_state: to } of own)
        for (const state of [from, to])
          assert.ok(rows[0].definition.includes(`'${state}'`), `${table}: ${state}`);
    }
  });
});
