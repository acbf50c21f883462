import { getDocumentProxy } from "unpdf";

/** The readable content of a PDF. */
export interface PdfText {
  /** The text of each page, in the order of printing, with single spaces. */
  pages: string[];
  title: string;
  /** Time of creation, as PDF writes it: `D:` and digits. */
  created: string;
  language: string | null;
  /** Embedded files by name. */
  files: Map<string, Buffer>;
  /** The properties of the metadata (XMP) by name. */
  metadata: Map<string, string>;
  /** Right and lower end of the text on all pages, in points from the left and upper edge. */
  extent: { right: number; bottom: number };
}

/** What the types of the library lack. */
interface Attachments {
  getAttachments(): Promise<Map<string, object> | null>;
  getAttachmentContent(name: string): Promise<Uint8Array>;
}

/** Reads a PDF with a separate library. */
export async function readPdf(data: Uint8Array): Promise<PdfText> {
  const document = await getDocumentProxy(new Uint8Array(data), { verbosity: 0 });
  const { info, metadata } = (await document.getMetadata()) as unknown as {
    info: Record<string, string>;
    metadata: Iterable<[string, string]> | null;
  };
  const embedded = document as unknown as Attachments;
  const files = new Map<string, Buffer>();
  for (const name of (await embedded.getAttachments())?.keys() ?? [])
    files.set(name, Buffer.from(await embedded.getAttachmentContent(name)));
  const pages: string[] = [];
  const extent = { right: 0, bottom: 0 };
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number);
    const { height } = page.getViewport({ scale: 1 });
    const { items } = await page.getTextContent();
    const texts = items.filter((item) => "str" in item).filter(({ str }) => str.trim() !== "");
    for (const { transform, width } of texts) {
      extent.right = Math.max(extent.right, transform[4] + width);
      extent.bottom = Math.max(extent.bottom, height - transform[5]);
    }
    pages.push(
      texts
        .map(({ str }) => str)
        .join(" ")
        .replace(/\s+/g, " "),
    );
  }
  await document.cleanup();
  return {
    pages,
    title: info.Title!,
    created: info.CreationDate!,
    language: info.Language ?? null,
    extent,
    files,
    metadata: new Map(metadata ?? []),
  };
}
