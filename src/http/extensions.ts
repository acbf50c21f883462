/** What every answer to an operation says beside its data and errors. */
export const extensionsOf = ({ operation }: Express.Locals) => ({ cost: operation!.cost });
