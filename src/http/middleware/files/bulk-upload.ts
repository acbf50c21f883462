import type { Spend } from "../../../auth/rate-limits/spend.ts";
import { TokenRefusal } from "../../../auth/access-token.ts";
import type { Caller } from "../../../auth/caller.ts";
import { RefusedFile } from "../../../bulk/refused-file.ts";
import { storeUpload } from "../../../bulk/upload.ts";
import type { UploadTools } from "../../../bulk/upload.ts";
import { findUpsert } from "../../../bulk/upserts.ts";
import { apiError, isApiError } from "../../../errors/api-error.ts";
import { encodeGlobalId } from "../../../graphql/global-id.ts";
import type { Admission } from "../../admission.ts";
import { refuse, sendJson } from "../../answers.ts";
import { allowLongBody } from "../../open-connections.ts";
import type { Middleware, Request, Response } from "../../pipeline.ts";
import type { Spending } from "../limits/spend-points.ts";
import { readFileHeaders } from "./upload-headers.ts";

/** The path of uploads. */
export const bulkUploadPath = "/api/bulk/:resource";

const address = /^(?:https?:\/\/[^/?#]*)?\/api\/bulk\/([^/?#%]+)(?:$|[?#])/;

/** Whether a URL is the address of an upload. */
export const isUploadUrl = (url: string): boolean => address.test(url);

/** Points that an upload costs at its beginning. */
const pointsToBegin = 10;
/** Uploads that a process accepts at a time, each by another API credential. */
const maxUploads = 4;
/** Bytes of a file that costs next to nothing to refuse. */
const shortBytes = 65_536;

/**
 * Handles `POST /api/bulk/{resource}`: stores the rows of a file, which background work imports later. The file is never
 * held in memory as a whole: what has arrived is stored before more is read.
 */
export function bulkUpload(
  tools: UploadTools,
  admission: Admission,
  spending: Pick<Spending, "refuseSlowly">,
): Middleware<"caller" | "trace"> {
  const uploading = new Set<string>();
  return async (request, response, next) => {
    const resource = address.exec(request.url!)?.[1];
    const scope = resource && findUpsert(tools.schema(), resource)?.scope;
    if (!resource || !scope) return next();
    const { caller, trace } = response.locals;
    const { credentialId, scopes } = caller;
    const check = () => requireRights(admission, caller, scope);
    try {
      requirePost(request, response);
      await check();
      const file = { ...readFileHeaders(request), resource };
      await pay(tools.spend, credentialId, response);
      const isOwn = uploading.has(credentialId);
      if (isOwn || uploading.size >= maxUploads) throw tooMany(response, isOwn);
      uploading.add(credentialId);
      const endLongBody = allowLongBody(request);
      try {
        const sender = { credentialId, scopes: [...scopes], traceparent: trace?.traceparent ?? null };
        const stored = await storeUpload(request, file, sender, check, tools);
        if (stored) sendAccepted(response, stored);
      } finally {
        endLongBody();
        uploading.delete(credentialId);
      }
    } catch (error) {
      if (!(error instanceof RefusedFile)) throw error;
      await refuseFile(request, response, error, spending);
    } finally {
      // Reads the rest of a refused file
      request.resume();
    }
  };
}

function sendAccepted(response: Response, { id, rowCount }: { id: string; rowCount: number | null }): void {
  const bulkOperation = { id: encodeGlobalId("BulkOperation", id), ...(rowCount !== null && { rowCount }) };
  sendJson(response, 202, { bulkOperation });
}

/** Refuses a file. The rest of a long one must still be read, so a client that repeats it waits for the response. */
async function refuseFile(
  request: Request,
  response: Response<"caller">,
  { status, code, message }: RefusedFile,
  spending: Pick<Spending, "refuseSlowly">,
): Promise<void> {
  const send = () => refuse(request, response, status, code, message);
  const isLong = !(Number(request.headers["content-length"]) <= shortBytes);
  if (request.complete || !isLong) return send();
  await new Promise<void>((resolve) =>
    spending.refuseSlowly(response.locals.caller.credentialId, () => resolve(send())),
  );
}

function requirePost(request: Request, response: Response): void {
  if (request.method === "POST") return;
  response.setHeader("allow", "POST");
  throw new RefusedFile(405, "Send files by POST.");
}

/** @throws {RefusedFile} when the caller may not, or no longer, upload */
async function requireRights(admission: Admission, caller: Caller, scope: string): Promise<void> {
  const refusal = (scopes: ReadonlySet<string>) => {
    const missing = ["bulk_operations:write", scope].filter((one) => !scopes.has(one));
    return missing.length > 0 ? apiError("FORBIDDEN", `The token lacks ${missing.join(" and ")}.`) : null;
  };
  try {
    // A file can't be a stored operation
    await admission.require(caller, { isWrite: true, isStored: () => false, refusal });
  } catch (error) {
    if (error instanceof TokenRefusal) throw new RefusedFile(403, error.message, "UNAUTHORIZED");
    throw isApiError(error) ? new RefusedFile(403, error.message, "FORBIDDEN") : error;
  }
}

async function pay(spend: Spend, credentialId: string, response: Response): Promise<void> {
  const { isAllowed, retryInSeconds } = await spend(credentialId, pointsToBegin);
  if (isAllowed) return;
  response.setHeader("retry-after", retryInSeconds);
  throw new RefusedFile(
    429,
    `An upload costs ${pointsToBegin} points; the API credential has fewer.`,
    "THROTTLED",
  );
}

function tooMany(response: Response, isOwn: boolean): RefusedFile {
  response.setHeader("retry-after", "5");
  const message = isOwn
    ? "The API credential is already uploading a file."
    : "Too many files are being uploaded at the moment.";
  return new RefusedFile(429, message, "THROTTLED");
}
