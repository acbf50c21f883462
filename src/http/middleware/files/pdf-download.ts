import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RequestHandler, Response } from "express";
import type { Pool } from "pg";
import { checkEach } from "../../../lib/guarded.ts";
import type { Admission } from "../../admission.ts";
import { errorCodes } from "../../../errors/api-error.ts";
import type { ErrorCode } from "../../../errors/api-error.ts";
import { refuse } from "../../answers.ts";
import { safeContentType, contentDisposition } from "../../../pdf/file.ts";
import { keepPdf, openErpDocument } from "../../../pdf/open-document.ts";
import type { Renderer } from "../../../pdf/renderer.ts";

/**
 * Path of documents: `Document.downloadUrl`, which the view api_unstable.documents writes. The parameter `format` names one
 * of `Document.formats`, by default pdf.
 */
export const pdfPath = "/api/_action/document/:id/:deepLinkCode";

/**
 * Sends a document by its address, without a token: anyone with the address may read it. A request with a wrong address
 * passes on, so it gets the same response as any unknown path, whichever part of it is wrong.
 */
export function pdfDownload(
  pool: Pool,
  admission: Admission,
  renderer: Pick<Renderer, "render">,
): RequestHandler<{ id: string; deepLinkCode: string }> {
  return async (request, response, next) => {
    const { id, deepLinkCode } = request.params;
    response.locals.loggedPath = pdfPath.replace(":id", id);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return refuse(request, response, 405, "BAD_USER_INPUT", "Documents are read-only: use GET.");
    }
    const { format = "pdf" } = request.query;
    if (typeof format !== "string" || !/^[a-z]{1,10}$/.test(format)) return next();
    const document = await openErpDocument(pool, id, deepLinkCode, format);
    if (document === null) return next();
    const { number, content, contentType, config } = document;
    const { deletedBecause } = config as { deletedBecause?: ErrorCode };
    const name = number ?? document.id;
    if (content !== null) {
      setHeaders(response, name, contentType!, content.bytes);
      if (request.method === "HEAD") return void response.end();
      // A client that disconnects or loses its rights is no failure. The closed connection shows it that the file is incomplete
      await pipeline(
        Readable.from(
          checkEach(content.parts, () => admission.requirePlan()),
          { objectMode: false },
        ),
        response,
      ).catch(() => response.destroy());
    } else if (deletedBecause !== undefined)
      refuse(request, response, 410, deletedBecause, errorCodes[deletedBecause].meaning);
    else if (document.static || format !== "pdf") next();
    else {
      const pdf = await keepPdf(pool, id, deepLinkCode, await renderer.render(config));
      setHeaders(response, name, "application/pdf", pdf.byteLength);
      response.end(pdf);
    }
  };
}

function setHeaders(response: Response, name: string, storedType: string, bytes: number): void {
  const contentType = safeContentType(storedType);
  response
    .status(200)
    .setHeader("content-type", contentType)
    .setHeader("content-length", bytes)
    .setHeader("content-disposition", contentDisposition(name, contentType))
    // The browser's own viewer needs styles
    .setHeader(
      "content-security-policy",
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    )
    .setHeader("cross-origin-resource-policy", "same-origin")
    .setHeader("cache-control", "private, no-store")
    .setHeader("x-robots-tag", "noindex");
}
