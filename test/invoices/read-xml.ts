import type pg from "pg";

/** Returns the XML of a config. */
export async function writeXml(client: pg.ClientBase, config: object): Promise<string> {
  const { rows } = await client.query("select erp.cii($1) as xml", [JSON.stringify(config)]);
  return rows[0].xml;
}

/**
 * Returns the texts and attributes that a path finds in the XML of an invoice. Names have no prefix, and a path starts anywhere:
 * `SellerTradeParty/Name`.
 */
export async function readXml(client: pg.ClientBase, xml: string, path: string): Promise<string[]> {
  const steps = path
    .split("/")
    .map((step) => (step.startsWith("@") ? step : step.replace(/^\w+/, "*[local-name() = '$&']")));
  const last = steps.at(-1)!.startsWith("@") ? "" : "/text()";
  const { rows } = await client.query("select xpath($1, $2::xml)::text[] as found", [
    `//${steps.join("/")}${last}`,
    xml,
  ]);
  return rows[0].found.map(unescapeXml);
}

const entities: Record<string, string> = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };

/** Replaces the entities that `xpath` leaves in texts. */
const unescapeXml = (text: string) => text.replace(/&(lt|gt|quot|amp);/g, (entity) => entities[entity]!);
