import { UserError } from "../../errors/user-error.ts";

/** Limits of downloads. */
export interface ReadLimits {
  /** Most bytes. The list of 90 days has a fiftieth of the usual 5 MB. */
  maxBytes: number;
  /** Longest download, in milliseconds. */
  timeoutMs: number;
  /** Most redirections. */
  maxRedirects: number;
}

/**
 * Downloads a text from the web.
 *
 * @param stopping aborts it
 * @throws {UserError} if the download fails or exceeds a limit
 */
export async function download(
  address: string,
  limits: ReadLimits,
  stopping?: AbortSignal,
): Promise<Uint8Array> {
  const tooLate = AbortSignal.timeout(limits.timeoutMs);
  const signal = AbortSignal.any([tooLate, ...(stopping ? [stopping] : [])]);
  let url = addressOf(address);
  try {
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, { redirect: "manual", signal });
      const next = redirectOf(response, url);
      if (next === null) return await bodyOf(response, url, limits);
      await response.body?.cancel();
      if (redirects === limits.maxRedirects) fail(url, `it was redirected more than ${redirects} times`);
      url = next;
    }
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    if (stopping?.aborted) throw stopping.reason;
    if (tooLate.aborted) fail(url, `it took longer than ${limits.timeoutMs / 1000} seconds`, cause);
    // The error of fetch says only that it failed; its cause says why
    const { message, cause: deeper } = cause as Error;
    fail(
      url,
      deeper instanceof Error ? deeper.message || String((deeper as NodeJS.ErrnoException).code) : message,
      cause,
    );
  }
}

/** Returns the target of a redirect; null for other responses. */
export function redirectOf(response: Response, from: URL): URL | null {
  const location = response.headers.get("location");
  if (response.status < 300 || response.status > 399 || location === null) return null;
  const next = addressOf(location, from);
  // Over an unencrypted connection, an attacker could change rates
  if (from.protocol === "https:" && next.protocol !== "https:")
    fail(from, "it was redirected from https to http");
  return next;
}

async function bodyOf(response: Response, url: URL, { maxBytes }: ReadLimits): Promise<Uint8Array> {
  if (response.status !== 200) {
    await response.body?.cancel();
    fail(url, `the answer was ${response.status} ${response.statusText}`.trim());
  }
  const parts: Uint8Array[] = [];
  let size = 0;
  // Counts decompressed bytes, not the length that the server states. Leaving the loop ends the download.
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > maxBytes) fail(url, `it is larger than ${maxBytes / 1_000_000} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function addressOf(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new UserError("Exchange rates are only downloaded from https: and http: addresses.");
  if (url.username !== "" || url.password !== "")
    throw new UserError("The address of exchange rates can't have a name and password in it.");
  return url;
}

/** Throws an error with the URL, but without its query parameters, which may contain a secret. */
function fail({ origin, pathname }: URL, reason: string, cause?: unknown): never {
  throw new UserError(`${origin}${pathname} can't be downloaded: ${reason}.`, { cause });
}
