import type { Attack, Play, RequestToSend } from "../attack.ts";
import { bodyOf, sendRepeatedly } from "../attack.ts";
import { subscribe } from "./payload-queries.ts";

const beginExport = `mutation ($input: BulkOperationRunInput!) {
  bulkOperationRun(input: $input) { bulkOperation { id } userErrors { code } } }`;
const exported = "{ stockMovements { edges { node { createdAt quantity product { productNumber } } } } }";

/** Attacks by repeated requests that cause more work than they cost. */
export const byLoops: Attack[] = [
  {
    name: "exports",
    what: "exports of long lists, one after the other",
    run: sendRepeatedly(8, ({ token }: Play): RequestToSend => {
      return { token, body: bodyOf(beginExport, { input: { query: exported } }) };
    }),
  },
  {
    name: "webhook subscriptions",
    what: "subscriptions that are created, and refused beyond the limit",
    run: sendRepeatedly(8, ({ token }: Play, n): RequestToSend => {
      // Nobody listens
      const input = { topic: "product.created", url: `http://127.0.0.1:9/${n}`, apiVersion: "unstable" };
      return { token, body: bodyOf(subscribe, { input }) };
    }),
  },
  {
    name: "log-ins",
    what: "passwords of administrators that are guessed, from many addresses",
    async run(play) {
      const page = await fetch(`${play.url}/admin/log-in`);
      const cookies = page.headers.getSetCookie().map((each) => each.split(";")[0]!);
      const [, csrf] = /name="_csrf" value="([^"]+)"/.exec(await page.text())!;
      const guess = sendRepeatedly(16, ({ url }: Play, n): RequestToSend => {
        const fields = { _csrf: csrf!, name: `guess-${n}`, password: `secret-${n}` };
        const headers = {
          ...{ "content-type": "application/x-www-form-urlencoded", cookie: cookies.join("; "), origin: url },
          "x-forwarded-for": `198.18.${(n >> 8) & 255}.${n & 255}`,
        };
        return { token: null, path: "/admin/log-in", headers, body: new URLSearchParams(fields).toString() };
      });
      await guess(play);
    },
  },
];
