/** The global id of a row. */
export const idOf = (type: string, uuid: string): string => `gid://service/${type}/${uuid}`;

/** The uuid in a global id. */
export const uuidOf = (id: string): string => id.slice(-36);

/** The uuid in a cursor; cursors have the service's form. */
export const afterOf = (cursor: string): string => Buffer.from(cursor, "base64url").toString().split(":")[1]!;

export const cursorOf = (uuid: string): string => Buffer.from(`:${uuid}:`).toString("base64url");
