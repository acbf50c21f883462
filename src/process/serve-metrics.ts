import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { explainListenError } from "../http/free-port.ts";

/** A source of metrics: the registry of a process, or of several. */
export interface Figures {
  contentType: string;
  metrics(): Promise<string>;
}

/**
 * Serves metrics for Prometheus at `/metrics`, on a separate port, which need not be open to clients of the API.
 *
 * @throws {UserError} when the port is taken
 */
export async function serveMetrics(figures: Figures, { host, port }: { host: string; port: number }) {
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") return void response.writeHead(404).end();
    figures.metrics().then(
      (text) => response.writeHead(200, { "content-type": figures.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw explainListenError({ host, port, name: "METRICS_PORT" }, cause);
  }
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
