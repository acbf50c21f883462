import type { TDocumentDefinitions } from "pdfmake/interfaces.js";
import type { PdfConfig } from "./config.ts";

/** A document whose PDF contains its XML. */
export type HybridConfig = PdfConfig & { xml: string; standard: NonNullable<PdfConfig["standard"]> };

export const isHybrid = (config: PdfConfig): config is HybridConfig =>
  !!config.xml && !!config.standard?.embedsXml;

/** Makes a PDF one of PDF/A-3b that contains the XML of the invoice. */
export function embeddedXml({
  xml,
  standard,
  documentDate,
  ...config
}: HybridConfig): Partial<TDocumentDefinitions> {
  const date = new Date(`${documentDate}T00:00:00Z`);
  const file = {
    src: `data:text/xml;base64,${Buffer.from(xml).toString("base64")}`,
    name: standard.fileName,
    type: "text/xml",
    description: "Invoice as XML",
    relationship: "Alternative",
    creationDate: date,
    modifiedDate: date,
  };
  return {
    version: "1.7",
    subset: "PDF/A-3b",
    files: { [standard.fileName]: file },
    info: {
      // The library writes these texts into XML as they are
      title: `${config.title} ${config.documentNumber}`.replaceAll(/[<>&]/g, " "),
      creator: "Stock and order GraphQL",
      creationDate: date,
    },
  };
}

const property = (name: string, description: string) => `
  <rdf:li rdf:parseType="Resource">
    <pdfaProperty:name>${name}</pdfaProperty:name>
    <pdfaProperty:valueType>Text</pdfaProperty:valueType>
    <pdfaProperty:category>external</pdfaProperty:category>
    <pdfaProperty:description>${description}</pdfaProperty:description>
  </rdf:li>`;

/** The metadata by which programs find the XML, with its schema, as PDF/A demands (Factur-X 1.0). */
export function invoiceMetadata({ standard }: HybridConfig): string {
  const { fileName, version, profile } = standard;
  return `
<rdf:Description rdf:about="" xmlns:fx="urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#">
  <fx:DocumentType>INVOICE</fx:DocumentType>
  <fx:DocumentFileName>${fileName}</fx:DocumentFileName>
  <fx:Version>${version}</fx:Version>
  <fx:ConformanceLevel>${profile}</fx:ConformanceLevel>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
  xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
  <pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
    <pdfaSchema:schema>Factur-X PDFA Extension Schema</pdfaSchema:schema>
    <pdfaSchema:namespaceURI>urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#</pdfaSchema:namespaceURI>
    <pdfaSchema:prefix>fx</pdfaSchema:prefix>
    <pdfaSchema:property><rdf:Seq>${[
      property("DocumentFileName", "Name of the embedded XML file"),
      property("DocumentType", "Type of the document"),
      property("Version", "Version of the XML schema"),
      property("ConformanceLevel", "Profile of the XML"),
    ].join("")}
    </rdf:Seq></pdfaSchema:property>
  </rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>`;
}
