import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from "node:http";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import type { Inbox, News } from "./inbox.ts";
import type { ServiceMessage } from "./outlet.ts";
import { newsOf } from "./outlet.ts";
import type { Shop } from "./shops/shop.ts";

/** Most bytes of a message. */
const maxBodyBytes = 5_000_000;

type Read = (headers: IncomingHttpHeaders, body: Buffer) => { id: string; news: News[] } | null;

/**
 * Receives the shop's webhooks at /shop and the service's at /service. An answer of success is given when the message is
 * safe on disk; everything else happens afterwards.
 *
 * @param secrets of the service's subscriptions, `whsec_…`
 * @param onNews called after each stored message
 */
export function receiver(
  shop: Shop,
  secrets: readonly string[],
  inbox: Inbox,
  onNews: () => void,
): RequestListener {
  const verifiers = secrets.map((secret) => new Webhook(secret));
  const readers: Record<string, Read> = {
    "/shop": (headers, body) => shop.read(headers, body),
    "/service": (headers, body) => readService(verifiers, headers, body),
  };
  return (request, response) => {
    const answer = (status: number) => void response.writeHead(status).end();
    const read = readers[request.url ?? ""];
    if (read === undefined) return answer(404);
    if (request.method !== "POST") return answer(405);
    bodyOf(request)
      .then((body) => {
        if (body === null) return answer(413);
        const message = read(request.headers, body);
        if (message === null) return answer(401);
        inbox.add(message.id, message.news);
        answer(200);
        onNews();
      })
      .catch((error: unknown) => {
        console.error(error);
        // The sender tries again
        answer(500);
      });
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function readService(verifiers: Webhook[], headers: IncomingHttpHeaders, body: Buffer) {
  for (const verifier of verifiers) {
    try {
      const message = verifier.verify(body.toString("utf8"), headers as Record<string, string>);
      return { id: String(headers["webhook-id"]), news: newsOf(message as ServiceMessage) };
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
    }
  }
  return null;
}
