import type { Position, Stage } from "../graphql/cursor.ts";
import { openRanges, stageText } from "../graphql/cursor.ts";
import { readPlace } from "../graphql/key-forms.ts";
import type { Order } from "./orders.ts";

/** Where the values of a stage of a cursor are: those of its key, how it stands in cursors, what was open. */
export interface StageValues {
  /** Null where the value is null. */
  key: readonly (number | null)[];
  /** Null where cursors that follow have no use for it. */
  text: number | null;
  /** Null where nothing was open. */
  open: number | null;
}

/** Adds the form of a cursor and its values. */
export function describePosition(
  order: Order,
  position: Position,
  values: unknown[],
): { shape: string; stages: readonly StageValues[] } {
  const isPlain = position.length === 1 && position[0].open === "";
  const stages = position.map((stage) => {
    const described = describeStage(order, stage, values);
    return isPlain
      ? described
      : { ...described, text: values.push(stageText(stage)) - 1, open: openOf(stage, values) };
  });
  return {
    shape: stages.map((stage) => `${stage.open === null ? "a" : "o"}${nullsOf(stage)}`).join(""),
    stages,
  };
}

const openOf = ({ open }: Stage, values: unknown[]): number | null =>
  open === "" ? null : values.push(openRanges(open)) - 1;

/** Adds the values of a place. */
export const describeStage = ({ columns }: Order, { key }: Stage, values: unknown[]): StageValues => ({
  key: readPlace(columns, key)!.map((value) => (value === null ? null : values.push(value) - 1)),
  text: null,
  open: null,
});

/** Where there is a null, in a form. */
export const nullsOf = ({ key }: StageValues): string => (key[0] === null ? "0" : "");
