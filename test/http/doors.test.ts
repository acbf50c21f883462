import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { after, before, describe, it } from "node:test";
import {
  deactivateCredential,
  deleteCredential,
  restrictOperations,
  rotateCredential,
} from "../../src/auth/credentials.ts";
import type { ClientCredentials } from "../../src/auth/credentials.ts";
import { packText } from "../../src/bulk/chunks.ts";
import { upload } from "../bulk/support.ts";
import { uuidOf } from "../lib/ids.ts";
import { read } from "../lib/service.ts";
import type { HttpAnswer } from "../lib/service.ts";
import type { ShippingShop } from "../lib/shipping-shop.ts";
import { openShippingShop } from "../lib/shipping-shop.ts";
import { until } from "../lib/until.ts";
import { closeStreams, openStream } from "../live/sse.ts";
import type { SseStream } from "../live/sse.ts";

// Each door of the service, and each way to lose the right to pass it: when it is opened, and while it is open.
let shop: ShippingShop;
let documentPath: string;
const subscription = 'subscription { events(topics: ["product.created"]) { topic } }';
const liveQuery = "query @live { products(first: 1) { edges { node { name } } } }";
const exportQuery = "{ products { edges { node { name } } } }";
before(async () => {
  shop = await openShippingShop();
  const order = await shop.order([{ product: "hammer", quantity: 1 }]);
  const [file] = await shop.sql(
    `insert into erp.document (document_type_id, order_id, static, content, content_type, deep_link_code)
     select id, '${uuidOf(order.id)}', true, convert_to(repeat('x', 24000000), 'UTF8'), 'text/plain', gen_random_uuid()
     from erp.document_type limit 1 returning id, deep_link_code as code`,
  );
  documentPath = `/api/_action/document/${file.id}/${file.code}`;
});
after(async () => {
  closeStreams();
  await shop.close();
});

const lines = 24;
/** A file of 24 MB that an export of a credential has written. */
async function addFile(credentialId: string, query = exportQuery): Promise<string> {
  const [made] = await shop.sql(
    `insert into bulk.operation (credential_id, scopes, kind, state, resource, format, query, variables, expires_at)
     select id, scopes, 'export', 'completed', 'products', 'jsonl', '${query}', '{}', now() + interval '1 day'
     from auth.credential where id = '${credentialId}' returning id, code`,
  );
  const content = await packText(`"${"x".repeat(1_000_000)}"\n`);
  for (let number = 0; number < lines; number++)
    await shop.owner.query("insert into bulk.chunk values ($1, $2, $3)", [made.id, number, content]);
  return `/api/bulk/${made.id}/result?code=${made.code}`;
}

/** Opens an address and reads nothing of its body, until `rest` reads to its end. */
async function beginDownload(path: string) {
  const request = get(`${shop.url}${path}`);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.pause();
  const rest = async () => {
    let bytes = 0;
    try {
      for await (const part of response) bytes += (part as Buffer).length;
    } catch {
      return "cut";
    }
    return bytes >= lines * 1_000_000 ? "whole" : "cut";
  };
  return { status: response.statusCode, rest };
}

/** An upload whose second half is sent when it is let go on. */
function beginUpload(token: string) {
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: hasBegun, resolve: begin } = Promise.withResolvers<void>();
  const row = (n: number) => Buffer.from(`{"productNumber":"slow-${n}","name":"${"x".repeat(60_000)}"}\n`);
  const body = async function* () {
    yield row(1);
    begin();
    await isLetGo;
    for (let n = 2; n < 10; n++) yield row(n);
  };
  const answer = upload(shop, token, "products", body());
  const arrived = until(
    async () => (await shop.sql("select from bulk.operation where state = 'uploading'")).length > 0,
  );
  return { hasBegun: Promise.all([hasBegun, arrived]), letGo, answer };
}

const post = (query: string, token: string) =>
  openStream(`${shop.url}/api/graphql/unstable`, token, {
    method: "POST",
    body: JSON.stringify({ query }),
    headers: { "content-type": "application/json" },
  });
const events = (token: string) => openStream(`${shop.url}/api/events?topics=product.created`, token);

/** The code with which a stream ends; what else it sent before is passed over. */
async function endOf(stream: SseStream): Promise<string> {
  for (let message; (message = await stream.next());)
    if (message.data?.errors) {
      const [{ extensions }] = message.data.errors;
      while (await stream.next());
      return extensions.code;
    }
  return "an end without a reason";
}

const said = ({ status, body }: Pick<SseStream | HttpAnswer, "status" | "body">): string => {
  const code = body?.errors?.[0]?.extensions?.code ?? body?.errors?.[0]?.code;
  return code === undefined ? String(status) : `${status} ${code}`;
};

/** What the doors answer to a credential that has lost a right. */
interface Answers {
  operation: string;
  mutation: string;
  events: string;
  subscription: string;
  live: string;
  upload: string;
  file: string;
  document: string;
  /** How open streams end, an upload is answered, and downloads end. */
  open: { stream: string; upload: string; file: string; document: string };
}

const unauthorized = "403 UNAUTHORIZED";
const ofNoCredential: Answers = {
  operation: unauthorized,
  mutation: unauthorized,
  events: unauthorized,
  subscription: unauthorized,
  live: unauthorized,
  upload: unauthorized,
  file: "403 FORBIDDEN",
  document: "200",
  open: { stream: "UNAUTHORIZED", upload: unauthorized, file: "cut", document: "whole" },
};
const noPlan = "402 SERVICE_GRAPHQL__API_DISABLED";
const forbidden = "400 FORBIDDEN";

interface Loss {
  lose: (credential: ClientCredentials) => Promise<unknown>;
  expected: Answers;
}

const losses: Record<string, Loss> = {
  "is deactivated": { lose: ({ id }) => deactivateCredential(shop.owner, id), expected: ofNoCredential },
  "is deleted": { lose: ({ id }) => deleteCredential(shop.owner, id), expected: ofNoCredential },
  "has ended": {
    lose: ({ id }) =>
      shop.owner.query("update auth.credential set expires_at = now() - interval '1 second' where id = $1", [
        id,
      ]),
    expected: ofNoCredential,
  },
  "is rotated": {
    lose: ({ id }) => rotateCredential(shop.owner, id),
    // Files belong to the credential, not to its key
    expected: { ...ofNoCredential, file: "200", open: { ...ofNoCredential.open, file: "whole" } },
  },
  "may send stored operations only": {
    lose: ({ id }) => restrictOperations(shop.owner, id, true),
    expected: {
      operation: forbidden,
      mutation: forbidden,
      events: forbidden,
      subscription: forbidden,
      live: forbidden,
      upload: "403 FORBIDDEN",
      file: "403 FORBIDDEN",
      document: "200",
      open: { stream: "FORBIDDEN", upload: "403 FORBIDDEN", file: "cut", document: "whole" },
    },
  },
  "has no plan with the API": {
    lose: () => shop.owner.query("select auth.set_plan('none')"),
    expected: {
      operation: noPlan,
      mutation: noPlan,
      events: noPlan,
      subscription: noPlan,
      live: noPlan,
      upload: noPlan,
      file: noPlan,
      document: noPlan,
      open: { stream: "FORBIDDEN", upload: "403 FORBIDDEN", file: "cut", document: "cut" },
    },
  },
  "has a plan for queries only": {
    lose: () => shop.owner.query("select auth.set_plan('read_only')"),
    expected: {
      operation: "200",
      mutation: forbidden,
      events: "200",
      subscription: "200",
      live: "200",
      upload: "403 FORBIDDEN",
      file: "200",
      document: "200",
      open: { stream: "goes on", upload: "403 FORBIDDEN", file: "whole", document: "whole" },
    },
  },
  "has lost the scope": {
    lose: ({ id }) =>
      shop.owner.query(
        "update auth.credential set scopes = '{bulk_operations:read,bulk_operations:write}' where id = $1",
        [id],
      ),
    expected: {
      operation: forbidden,
      mutation: forbidden,
      events: forbidden,
      subscription: forbidden,
      live: forbidden,
      upload: "403 FORBIDDEN",
      file: "403 FORBIDDEN",
      document: "200",
      open: { stream: "FORBIDDEN", upload: "403 FORBIDDEN", file: "cut", document: "whole" },
    },
  },
};

const accept = { headers: { accept: "application/graphql-response+json" } };

/** What each door answers now. */
async function answersTo(token: string, file: string): Promise<Omit<Answers, "open">> {
  const stream = async (opening: Promise<SseStream>) => {
    const opened = await opening;
    opened.close();
    return said(opened);
  };
  const download = async (path: string) => {
    const response = await fetch(`${shop.url}${path}`);
    if (response.status !== 200) return said(await read(response));
    await response.body!.cancel();
    return "200";
  };
  const create = 'mutation { warehouseCreate(input: { name: "A", code: "A" }) { userErrors { code } } }';
  return {
    operation: said(await shop.ask(token, { query: exportQuery }, accept)),
    mutation: said(await shop.ask(token, { query: create }, accept)),
    events: await stream(events(token)),
    subscription: await stream(post(subscription, token)),
    live: await stream(post(liveQuery, token)),
    upload: said(await upload(shop, token, "products", "{}")),
    file: await download(file),
    document: await download(documentPath),
  };
}

describe("a client whose credential", () => {
  for (const [what, { lose, expected }] of Object.entries(losses))
    it(`${what}: is refused at each door, also where one was open`, async () => {
      const credential = await shop.credential({ read: "all", write: "all" });
      const token = await shop.tokenFor(credential);
      const file = await addFile(credential.id);
      const streams = [await events(token), await post(subscription, token), await post(liveQuery, token)];
      const uploading = beginUpload(token);
      const downloads = [await beginDownload(file), await beginDownload(documentPath)] as const;
      await uploading.hasBegun;
      try {
        for (const stream of [...streams, ...downloads]) assert.equal(stream.status, 200);
        await lose(credential);
        await until(async () => said(await upload(shop, token, "products", "{}")) === expected.upload);
        uploading.letGo();
        const answered = said(await uploading.answer);
        const ends = expected.open.stream === "goes on" ? [] : await Promise.all(streams.map(endOf));
        const [ofFile, ofDocument] = await Promise.all(downloads.map(({ rest }) => rest()));
        assert.deepEqual(
          {
            ...(await answersTo(token, file)),
            open: {
              stream: [...new Set(ends)].join() || "goes on",
              ...{ upload: answered, file: ofFile, document: ofDocument },
            },
          },
          expected,
        );
      } finally {
        await shop.owner.query("select auth.set_plan('full')");
        await until(async () => (await shop.ask(null, { query: "{ __typename }" })).status === 401);
        for (const stream of streams) stream.close();
      }
    });
});

describe("a credential that may send stored operations only", () => {
  const publish = (id: string, ...documents: string[]) =>
    shop.owner.query("select auth.publish_operations('unstable', $1, $2)", [
      ...[id, JSON.stringify(documents.map((document) => ({ name: "Test", document })))],
    ]);
  const run =
    "mutation ($query: String!) { bulkOperationRun(input: { query: $query }) { bulkOperation { id } userErrors { code field } } }";
  const subscribe = `mutation ($query: String) { webhookSubscriptionCreate(input: { topic: "product.created", url: "https://shop.example/",
    apiVersion: "unstable", payloadQuery: $query }) { webhookSubscription { id } userErrors { code field } } }`;
  const payload = "query ($id: ID!) { product(id: $id) { name } }";

  it("opens the streams and files of what is stored for it", async () => {
    const credential = await shop.credential({ read: "all", write: "all" });
    await publish(credential.id, subscription, liveQuery, exportQuery);
    await restrictOperations(shop.owner, credential.id, true);
    const token = await shop.tokenFor(credential);
    const hash = createHash("sha256").update(subscription).digest("hex");
    for (const open of [
      () => post(subscription, token),
      () => post(liveQuery, token),
      () => openStream(`${shop.url}/api/graphql/unstable?documentId=${hash}`, token),
    ])
      await until(async () => {
        const stream = await open();
        stream.close();
        return stream.status === 200;
      });
    const download = await beginDownload(await addFile(credential.id));
    assert.equal(await download.rest(), "whole");
  });

  it("gives stored operations no query as a value that isn't stored", async () => {
    const credential = await shop.credential({ read: "all", write: "all" });
    await publish(credential.id, run, subscribe, payload);
    await restrictOperations(shop.owner, credential.id, true);
    const token = await shop.tokenFor(credential);
    const ask = async (query: string, given: string | null) => {
      let payload: any;
      // What is stored is heard of a moment later
      await until(async () => {
        const { body } = await shop.ask(token, { query, variables: { query: given } });
        payload = Object.values(body.data ?? {})[0];
        return payload !== undefined;
      });
      return payload;
    };
    const free = "query ($id: ID!) { product(id: $id) { name price { net } } }";
    assert.deepEqual((await ask(subscribe, free)).userErrors, [{ code: "INVALID", field: ["payloadQuery"] }]);
    assert.deepEqual((await ask(run, exportQuery)).userErrors, [{ code: "INVALID", field: ["query"] }]);
    await publish(credential.id, exportQuery);
    for (const [query, given] of [
      [subscribe, payload],
      [subscribe, null],
      [run, exportQuery],
    ] as const)
      await until(async () => (await ask(query, given)).userErrors.length === 0);
  });

  it("is sent nothing by a subscription whose query isn't stored", async () => {
    const credential = await shop.credential({ read: "all", write: "all" });
    const token = await shop.tokenFor(credential);
    const { body } = await shop.ask(token, { query: subscribe, variables: { query: payload } });
    const id = uuidOf(body.data.webhookSubscriptionCreate.webhookSubscription.id);
    const isTold = async () =>
      (await shop.sql(`select events.scopes_of_subscription('${id}') is not null as yes`))[0].yes;
    assert.equal(await isTold(), true);
    await restrictOperations(shop.owner, credential.id, true);
    assert.equal(await isTold(), false);
    await publish(credential.id, payload);
    assert.equal(await isTold(), true);
  });
});
