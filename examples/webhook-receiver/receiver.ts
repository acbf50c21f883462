import { createServer } from "node:http";
import type { IncomingMessage, RequestListener } from "node:http";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { Inbox } from "./inbox.ts";
import type { Message } from "./inbox.ts";

/** Most bytes of a message. */
const maxBodyBytes = 2_000_000;

/**
 * Receives webhooks: checks the signature, stores the message, answers, and only then processes it. The sender waits 15
 * seconds at most, and counts every answer outside of 2xx as a failure.
 *
 * @param secrets `whsec_…`; two, while the secret is being changed
 * @param handle processes new messages
 */
export function receiver(
  secrets: readonly string[],
  inbox: Inbox,
  handle: (message: Message) => void | Promise<void>,
): RequestListener {
  const verifiers = secrets.map((secret) => new Webhook(secret));
  return (request, response) => {
    const answer = (status: number) => void response.writeHead(status).end();
    if (request.method !== "POST") return answer(405);
    read(request).then(
      (body) => {
        if (body === null) return answer(413);
        const message = verified(verifiers, body, request);
        if (message === null) return answer(401);
        const isNew = inbox.add(String(request.headers["webhook-id"]), message);
        answer(204);
        if (isNew) void Promise.resolve(message).then(handle).catch(console.error);
      },
      () => request.destroy(),
    );
  };
}

/** The raw body: the signature is about its bytes, so it must not be parsed and serialised again. */
async function read(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBodyBytes) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** The message, if one of the secrets signed it within the last five minutes. */
function verified(verifiers: Webhook[], body: string, { headers }: IncomingMessage): Message | null {
  for (const verifier of verifiers) {
    try {
      return verifier.verify(body, headers as Record<string, string>) as Message;
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error;
    }
  }
  return null;
}

if (import.meta.main) {
  const { WEBHOOK_SECRET = "", PORT = "5000", INBOX = "inbox.jsonl" } = process.env;
  const inbox = new Inbox(INBOX);
  const handle = ({ type, sequence, data }: Message) => {
    console.log(`${type} ${sequence ?? "(a test)"}: ${JSON.stringify(data).slice(0, 200)}`);
    const missing = inbox.missing();
    if (missing.length > 0) console.log(`still to come: ${missing.join(", ")}`);
  };
  const listener = receiver(WEBHOOK_SECRET.split(/[\s,]+/).filter(Boolean), inbox, handle);
  const server = createServer(listener).listen(Number(PORT), "127.0.0.1", () => {
    console.log(`listening on ${JSON.stringify(server.address())}`);
  });
}
