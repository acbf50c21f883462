import accepts from "accepts";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { addVary } from "../../answers.ts";
import { cacheByHeader } from "../../by-header.ts";
import { readAs } from "../../../postgres/as-role.ts";
import type { Request, Middleware } from "../../pipeline.ts";

/** The locale in which every text exists. */
const defaultLocale = "en-GB";
/** Milliseconds after which the list of locales is read again. */
const freshnessMs = 300_000;
/** Milliseconds after which the list is read again if reading it has failed. */
const retryMs = 1_000;

const primaryLanguage = (tag: string): string => tag.toLowerCase().split("-")[0]!;

/**
 * Returns the locale that matches the client's preferences best: for each of its languages in turn, the same locale, or
 * else one of the same language (de for de-AT).
 *
 * @param preferred language tags, most preferred first
 */
export function chooseLocale(preferred: readonly string[], supported: readonly string[]): string {
  for (const tag of preferred) {
    if (tag === "*") return defaultLocale;
    const same = supported.find((locale) => locale.toLowerCase() === tag.toLowerCase());
    const related = same ?? supported.find((locale) => primaryLanguage(locale) === primaryLanguage(tag));
    if (related !== undefined) return related;
  }
  return defaultLocale;
}

/** Returns a function that chooses the locale by the header `Accept-Language`. */
const createChooser = (supported: readonly string[]) =>
  cacheByHeader((header) =>
    chooseLocale(accepts({ headers: { "accept-language": header } } as Request).languages(), supported),
  );

/** The locales of the database, read when a request first needs them, and again every few minutes. */
export class Locales {
  readonly #pool: Pool;
  readonly #logger: Logger;
  #readAt = -Infinity;
  /** The first reading, until it is done. */
  #first: Promise<void> | null = null;
  #isRead = false;
  #choose = createChooser([defaultLocale]);

  constructor(pool: Pool, logger: Logger) {
    this.#pool = pool;
    this.#logger = logger;
  }

  /** Reads the locales. If that fails, the known ones stay in use. */
  async refresh(): Promise<void> {
    this.#readAt = performance.now();
    try {
      const text = "select auth.supported_locales() as code";
      const rows = await readAs<{ code: string }>(this.#pool, "service_auth", text);
      this.#choose = createChooser(rows.map(({ code }) => code));
    } catch (error) {
      this.#logger.warn({ err: error }, "can't read the list of locales");
      this.#readAt += retryMs - freshnessMs;
    }
    this.#isRead = true;
  }

  /** Returns the locale for a response. Waits for the database only until the locales have been read once. */
  choose(request: Request): string | Promise<string> {
    const header = request.headers["accept-language"] ?? "*";
    if (header === "*") return defaultLocale;
    if (performance.now() - this.#readAt > freshnessMs) {
      const reading = this.refresh();
      if (!this.#isRead) this.#first = reading;
    }
    if (this.#isRead || !this.#first) return this.#choose(header);
    return this.#first.then(() => this.#choose(header));
  }
}

/** Chooses the language of localised names by `Accept-Language`. */
export function negotiateLocale(locales: Locales): Middleware<never, "locale"> {
  return (request, response, next) => {
    const use = (locale: string) => {
      response.setHeader("content-language", locale);
      addVary(response, "Accept-Language");
      next({ locale });
    };
    const chosen = locales.choose(request);
    if (typeof chosen === "string") return use(chosen);
    return chosen.then(use);
  };
}
