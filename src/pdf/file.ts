/** Media types that browsers may display, because they can't run scripts or access the service's pages. */
const shownTypes = new Map([
  ["application/pdf", "pdf"],
  ["image/gif", "gif"],
  ["image/jpeg", "jpg"],
  ["image/png", "png"],
  ["image/webp", "webp"],
  ["text/plain", "txt"],
]);
/** File extensions of media types that are only downloaded. */
const savedTypes = new Map([
  ["application/json", "json"],
  ["application/msword", "doc"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/xml", "xml"],
  ["application/zip", "zip"],
  ["image/svg+xml", "svg"],
  ["image/tiff", "tif"],
  ["text/csv", "csv"],
  ["text/html", "html"],
  ["text/xml", "xml"],
]);

const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+( *; *[\w-]+=("[\w .+-]*"|[\w.+-]+))*$/;

/** Returns the media type to send a file with. A malformed type, which a header can't contain, is replaced. */
export function safeContentType(stored: string): string {
  return mediaType.test(stored) ? stored : "application/octet-stream";
}

/** Returns the Content-Disposition (RFC 6266): whether the file may be displayed or must be saved, and its name. */
export function contentDisposition(name: string, contentType: string): string {
  const essence = contentType.split(";")[0]!.trim().toLowerCase();
  const disposition = shownTypes.has(essence) ? "inline" : "attachment";
  const ending = shownTypes.get(essence) ?? savedTypes.get(essence);
  const full = ending === undefined ? name : `${name}.${ending}`;
  // The ASCII name is for programs that don't support the encoded one
  const ascii = full.normalize("NFKD").replace(/[^\w .()-]/g, "_");
  return `${disposition}; filename="${ascii}"; filename*=UTF-8''${encodeParameter(full)}`;
}

/** Encodes a parameter value by RFC 8187. */
function encodeParameter(text: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(/['()*]/g, percent);
}
