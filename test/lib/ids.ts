/** Makes a global id. */
export const gid = (type: string, uuid: string): string => `gid://service/${type}/${uuid}`;

/** Returns the uuid of a global id. */
export const uuidOf = (id: string): string => id.slice(-36);

/** A uuid that no row has. */
export const noUuid = "01980000-0000-7000-8000-000000000000";

/** Makes a global id that no row has. */
export const missingId = (type: string): string => gid(type, noUuid);
