import { UserError } from "../../errors/user-error.ts";

/** Limits for reading what may come from anywhere. */
export interface ReadLimits {
  /** The most that is read. The list of 90 days has a fiftieth of the usual 5 MB. */
  maxBytes: number;
  /** How long a download may take, from its beginning to its end. */
  timeoutMs: number;
  /** How often a server may send the download elsewhere. */
  maxRedirects: number;
}

/**
 * Downloads from the web.
 *
 * @param stopping breaks it off
 * @throws {UserError} when that fails, or goes beyond a limit
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
    // fetch says no more than that it failed; what it was stands in the cause
    const { message, cause: deeper } = cause as Error;
    fail(
      url,
      deeper instanceof Error ? deeper.message || String((deeper as NodeJS.ErrnoException).code) : message,
      cause,
    );
  }
}

/** Where a response leads on to; null when it is the end. */
export function redirectOf(response: Response, from: URL): URL | null {
  const location = response.headers.get("location");
  if (response.status < 300 || response.status > 399 || location === null) return null;
  const next = addressOf(location, from);
  // Whoever listens on the way could change rates
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
  // Counts what comes out of the decompression, whatever the server says of its length. Leaving the loop ends it.
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

/** Names the address without its parameters, which may hold a secret. */
function fail({ origin, pathname }: URL, reason: string, cause?: unknown): never {
  throw new UserError(`${origin}${pathname} can't be downloaded: ${reason}.`, { cause });
}
