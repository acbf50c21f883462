// The package has no types

declare module "@directus/api/emitter" {
  import type { IncomingMessage } from "node:http";

  const emitter: {
    onFilter(
      event: string,
      handler: (value: object, meta: { req: IncomingMessage }) => Promise<object>,
    ): void;
  };
  export default emitter;
}

declare module "@directus/api/server" {
  import type { Server } from "node:http";

  export function createServer(): Promise<Server>;
}
