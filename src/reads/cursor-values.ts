import type { Position, Stage } from "../graphql/cursor.ts";
import { openRanges, stageText } from "../graphql/cursor.ts";
import { readPlace } from "../graphql/key-forms.ts";
import type { Order } from "./orders.ts";

/** The indexes of the values of a cursor's stage: of its key, of its text in cursors, of the open transactions. */
export interface StageValues {
  /** An index is null if the value is null. */
  key: readonly (number | null)[];
  /** Null if later cursors don't need it. */
  text: number | null;
  /** Null if no transaction was open. */
  open: number | null;
}

/** Returns the shape and the stages of a cursor, and appends its values. */
export function describePosition(
  order: Order,
  position: Position,
  values: unknown[],
): { shape: string; stages: readonly StageValues[] } {
  const isSimple = position.length === 1 && position[0].open === "";
  const stages = position.map((stage) => {
    const described = describeStage(order, stage, values);
    return isSimple
      ? described
      : { ...described, text: values.push(stageText(stage)) - 1, open: addOpenRanges(stage, values) };
  });
  return {
    shape: stages.map((stage) => `${stage.open === null ? "a" : "o"}${describeNulls(stage)}`).join(""),
    stages,
  };
}

const addOpenRanges = ({ open }: Stage, values: unknown[]): number | null =>
  open === "" ? null : values.push(openRanges(open)) - 1;

/** Returns the stage of a place in an order, and appends its values. */
export const describeStage = ({ columns }: Order, { key }: Stage, values: unknown[]): StageValues => ({
  key: readPlace(columns, key)!.map((value) => (value === null ? null : values.push(value) - 1)),
  text: null,
  open: null,
});

/** Returns the part of a shape that says whether the first value is null. */
export const describeNulls = ({ key }: StageValues): string => (key[0] === null ? "0" : "");
