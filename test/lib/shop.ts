import assert from "node:assert/strict";
import { assertProof } from "./proof.ts";
import { startService } from "./service.ts";
import type { HttpAnswer, AskOptions, ServiceOptions, TestProcess, TestService } from "./service.ts";

/** A small warehouse with known content, and a service on it. */
export interface Shop extends TestService {
  /** Global ids by short name: `hammer`, `hall`, `A-1`… */
  id: Record<string, string>;
  /** Calls a mutation with all scopes, or with the given token. Returns its payload; fails on GraphQL errors. */
  mutate(name: string, input: object, options?: MutateOptions): Promise<any>;
  /** Calls a mutation as `mutate` does, but returns the response, even with errors. */
  tryMutate(name: string, input: object, options?: MutateOptions): Promise<HttpAnswer>;
  /** Calls a mutation that must not be refused. Returns its payload. */
  succeed(name: string, input: object, select?: string): Promise<any>;
  /** Makes a product by the API, and remembers its id by its number. */
  addProduct(productNumber: string): Promise<void>;
  /** Returns the quantity of a product in a bin or warehouse, as the API shows it. */
  stockAt(product: string, place: string): Promise<number>;
  /** Counts the movements in the ledger. */
  movements(): Promise<number>;
  /** Makes a line of stockSet or stockAdjust. */
  line(product: string, place: string, rest: object): object;
  /** Makes a line of stockTransfer. */
  move(product: string, source: string, destination: string, rest: object): object;
  /** Returns the time before an interval, by the clock of the database, to the microsecond. */
  ago(interval: string): Promise<string>;
  /** Deletes all stock and its history. */
  empty(): Promise<void>;
}

export interface MutateOptions extends AskOptions {
  token?: string;
  /** The process that gets the request; by default the first. */
  process?: Pick<TestProcess, "ask">;
  /** Selected fields of the payload, in addition to the user errors. */
  select?: string;
}

/** Default selections of the payloads of stock mutations. */
const stockFields =
  "stockMovements { id quantity processTypeTechnicalName sourceLocationTypeTechnicalName sourceBinLocationId sourceWarehouseId " +
  "sourceSpecialStockLocationTechnicalName destinationLocationTypeTechnicalName destinationBinLocationId destinationWarehouseId " +
  "destinationSpecialStockLocationTechnicalName product { productNumber } } stocks { id quantity }";

const rows = `
  insert into erp.warehouse (code, name, is_default, is_default_receiving, is_stock_available_for_sale) values
    ('hall', 'Hall', true, true, true), ('shed', 'Shed', false, false, true), ('returns', 'Returns', false, false, false);
  insert into erp.location (name, warehouse_id) select name, id from erp.warehouse;
  insert into erp.bin_location (warehouse_id, code) select w.id, v.code from erp.warehouse w
    join (values ('hall', 'A-1'), ('hall', 'A-2'), ('shed', 'B-1'), ('returns', 'R-1')) v (warehouse, code) on v.warehouse = w.code;
  insert into erp.product (product_number, name, is_batch_managed) values
    ('hammer', 'Hammer', false), ('nail', 'Nail', false), ('glue', 'Glue', true);
  insert into erp.batch (product_id, number) select id, v.number from erp.product
    join (values ('glue', 'G1'), ('glue', 'G2'), ('nail', 'N1')) v (product, number) on v.product = product_number;
  insert into erp.currency (iso_code, symbol, name, short_name, factor, is_default_currency) values
    ('EUR', '€', '{"en-GB":"Euro"}', '{"en-GB":"EUR"}', 1, true), ('USD', '$', '{"en-GB":"Dollar"}', '{"en-GB":"USD"}', 1.25, false);
  insert into erp.supplier (number, name, currency_id) select v.number, v.number, c.id
    from (values ('acme', null), ('forge', 'EUR'), ('yankee', 'USD')) v (number, currency) left join erp.currency c on c.iso_code = v.currency;
  insert into erp.number_range (technical_name, pattern) values ('supplier_order', 'PO-{n}'), ('goods_receipt', 'GR-{n}')
    on conflict do nothing`;

const ids = `
  select product_number as name, 'Product' as type, id from erp.product
  union all select code, 'Warehouse', id from erp.warehouse
  union all select code, 'BinLocation', id from erp.bin_location
  union all select number, 'Batch', id from erp.batch
  union all select number, 'Supplier', id from erp.supplier
  union all select iso_code, 'Currency', id from erp.currency`;

const emptied = `
  update erp.product set physical_stock = 0, stock_not_available_for_sale = 0;
  update erp.batch set physical_stock = 0`;

/** Opens the shop without stock. */
export async function openShop(options: ServiceOptions = {}): Promise<Shop> {
  const service = await startService(options);
  await service.owner.query(rows);
  const { rows: found } = await service.owner.query(ids);
  const id = Object.fromEntries(found.map(({ name, type, id }) => [name, `gid://service/${type}/${id}`]));
  const all = await service.token({ read: "all", write: "all" });

  const tryMutate: Shop["tryMutate"] = (
    name,
    input,
    { token = all, select = "", process = service, ...more } = {},
  ) => {
    const inputType = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
    const fields = select || (name.startsWith("stock") ? stockFields : "");
    const query = `mutation ($input: ${inputType}!) { ${name}(input: $input) { ${fields} userErrors { code message field details } } }`;
    return process.ask(token, { query, variables: { input } }, more);
  };

  const mutate: Shop["mutate"] = async (name, input, more) => {
    const { body, text } = await tryMutate(name, input, more);
    const cause = (service.log.at(-1)?.err as { stack?: string } | undefined)?.stack;
    assert.equal(body.errors, undefined, `${text}\n${cause ?? ""}`);
    return body.data[name];
  };
  const succeed: Shop["succeed"] = async (name, input, select = "") => {
    const payload = await mutate(name, input, { select });
    assert.deepEqual(payload.userErrors, [], name);
    return payload;
  };

  /** Returns the input for a bin, warehouse or container, by its short name. */
  const at = (place: string) => {
    if (id[place]?.includes("/StockContainer/")) return { stockContainerId: id[place] };
    return place.includes("-") ? { binLocationId: id[place] } : { warehouseId: id[place] };
  };

  return {
    ...service,
    id,
    line: (product, place, rest) => ({ productId: id[product], place: at(place), ...rest }),
    move(product, source, destination, rest) {
      return { productId: id[product], source: at(source), destination: at(destination), ...rest };
    },
    async ago(interval) {
      const { rows } = await service.owner.query(
        `select to_char((clock_timestamp() - $1::interval) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') as moment`,
        [interval],
      );
      return rows[0].moment;
    },
    async empty() {
      await service.emptyTables("ledger.stock_movement", "ledger.stock", "ledger.warehouse_stock");
      await service.owner.query(emptied);
    },
    tryMutate,
    mutate,
    succeed,
    async addProduct(productNumber) {
      const rows = { products: [{ productNumber }] };
      const { products } = await succeed("productsUpsert", rows, "products { id }");
      id[productNumber] = products[0].id;
    },
    async stockAt(product, place) {
      const key = place.includes("-") ? "binLocationId" : "warehouseId";
      const filter = { productId: { equals: id[product] }, [key]: { equals: id[place] } };
      const query =
        "query ($filter: StockFilterInput) { stocks(filter: $filter) { edges { node { quantity } } } }";
      const { body } = await service.ask(all, { query, variables: { filter } });
      return body.data.stocks.edges[0]?.node.quantity ?? 0;
    },
    async movements() {
      const { rows } = await service.owner.query("select count(*)::int as count from ledger.stock_movement");
      return rows[0].count;
    },
  };
}

/** Fails when a stored figure differs from the ledger. */
export async function assertLedgerIsRight({ owner }: Pick<TestService, "owner">): Promise<void> {
  await assertProof(owner);
}

/** Returns the tested parts of user errors: code and path. */
export const refusals = ({ userErrors }: any): [code: string, field: string | null][] =>
  userErrors.map(({ code, field }: any) => [code, field?.join(".") ?? null]);
