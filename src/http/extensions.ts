/** The extensions of every answer to an operation. */
export const extensionsOf = ({ operation, position }: Express.Locals) => ({
  cost: operation!.cost,
  ...(position === undefined ? {} : { consistentWith: position }),
});
