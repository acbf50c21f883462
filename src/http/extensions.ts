/** The extensions of every answer to an operation. */
export const extensionsOf = ({ operation }: Express.Locals) => ({ cost: operation!.cost });
