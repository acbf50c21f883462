import assert from "node:assert/strict";
import { createAdministrator } from "../../src/auth/administrators.ts";
import type { TestService } from "../lib/service.ts";

export const password = "correct horse battery";

/** A page without a browser. */
export interface FetchedPage {
  status: number;
  headers: Headers;
  html: string;
  /** Target of a redirect. */
  location: string | null;
}

/** Sends requests as a browser does: with its cookies, and with the headers that say where forms come from. */
export class HttpBrowser {
  readonly url: string;
  readonly cookies = new Map<string, string>();
  /** Additional headers of every request. */
  headers: Record<string, string> = {};

  constructor(url: string) {
    this.url = url;
  }

  async get(path: string): Promise<FetchedPage> {
    return this.#send(path, {});
  }

  /** Sends a form as a page of ours would: with the page's token against forgery. */
  async post(
    path: string,
    fields: Record<string, string> = {},
    { on = path, headers = {} } = {},
  ): Promise<FetchedPage> {
    const _csrf = csrfTokenIn((await this.get(on)).html);
    return this.postRaw(path, { _csrf, ...fields }, { headers });
  }

  /** Sends a form without changes. */
  async postRaw(path: string, fields: Record<string, string>, { headers = {} } = {}): Promise<FetchedPage> {
    return this.#send(path, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { origin: this.url, "sec-fetch-site": "same-origin", ...headers },
    });
  }

  /** Logs in; fails when that isn't possible. */
  async logIn(name: string, secret = password): Promise<void> {
    const { status, html } = await this.post("/admin/log-in", { name, password: secret });
    assert.equal(status, 303, html);
  }

  async #send(path: string, init: RequestInit): Promise<FetchedPage> {
    const response = await fetch(this.url + path, {
      redirect: "manual",
      ...init,
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        ...this.headers,
        ...(init.headers as Record<string, string>),
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "") this.cookies.delete(name!);
      else this.cookies.set(name!, value!);
    }
    const { status, headers } = response;
    return { status, headers, html: await response.text(), location: headers.get("location") };
  }
}

export function csrfTokenIn(html: string): string {
  const [, token] = /name="_csrf" value="([^"]+)"/.exec(html) ?? [];
  assert.ok(token, "a form with a token");
  return token;
}

/** The text of a page, without its tags, on one line. */
export function textOf({ html }: FetchedPage): string {
  return html
    .slice(html.indexOf("<main"), html.indexOf("</main>"))
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ");
}

/** A logged-in visitor, by default a new administrator. */
export async function loggedIn(
  service: TestService,
  name = `a${Math.random().toString(36).slice(2)}`,
): Promise<HttpBrowser> {
  await createAdministrator(service.owner, name, password);
  const visitor = new HttpBrowser(service.url);
  await visitor.logIn(name);
  return visitor;
}
