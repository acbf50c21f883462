/** What a business did, as it noted it itself at the time. Nothing of it is a balance. */

/** A place of stock: its type and key, as `bin_location:0198…` or `special_stock_location:unknown`. */
export type Place = string;

/** A moment in microseconds since 1970. */
export type Moment = bigint;

export interface Movement {
  id: string;
  /** The number of the ledger; 0 until it has one. */
  sequence: number;
  product: string;
  quantity: number;
  from: Place;
  to: Place;
  batches: [batch: string, quantity: number][];
  process: string | null;
  /** When it was booked. */
  booked: Moment;
  /** When it happened: when it was counted, for differences of counts. */
  happened: Moment;
}

export interface ReceiptLine {
  product: string;
  quantity: number;
  /** The price of one unit in the currency and by the tax status of the receipt; null when it is unknown. */
  price: string | null;
  /** In percent. */
  taxRate: string;
  disposed: number;
}

export interface Receipt {
  type: "Supplier" | "Free" | "Customer";
  taxStatus: "gross" | "net" | "tax-free";
  /** Units of its currency per unit of the default currency. */
  factor: string;
  currency: string;
  lines: ReceiptLine[];
}

/** Value without goods, booked after a movement of the ledger. */
export interface ValueBooking {
  kind: "landed cost" | "write-down";
  id: string;
  product: string;
  receipt?: string;
  amount: string;
  /** The day that it belongs to. */
  day: string;
  sequence: number;
}

/** A closed report: its period ends with a day, and with a number of the ledger. */
export interface Closing {
  id: string;
  day: string;
  sequence: number;
  method: Method;
}

export type Method = "moving_average" | "period_average" | "fifo";

export class BusinessRecord {
  movements: Movement[] = [];
  receipts = new Map<string, Receipt>();
  /** Value of one unit, by the movement that brought it. */
  openingValues = new Map<string, string>();
  valueBookings: ValueBooking[] = [];
  closings: Closing[] = [];
  methods: { method: Method; startsOn: string }[] = [];
  /** The warehouse that a place is in, or was. */
  warehouseOf = new Map<Place, string>();
  /** Products and places that are gone, with the number of periods that had been closed by then. */
  deletedProducts = new Map<string, number>();
  deletedPlaces = new Map<Place, number>();
  /** The movements of a fulfillment. */
  fulfillments = new Map<string, string[]>();
  heldBatches = new Set<string>();
}

/** Whether goods in a place count as stock of the merchant. */
export const isCounted = (place: Place): boolean => /^(warehouse|bin_location|stock_container):/.test(place);
export const isSpecial = (place: Place): boolean => place.startsWith("special_stock_location:");
export const isReceipt = (place: Place): boolean => place.startsWith("goods_receipt:");

/** A count corrects the ledger; no goods moved. */
export const isCount = ({ process, from, to }: Movement): boolean =>
  (process === "api" || process === "stocktaking") &&
  [from, to].includes("special_stock_location:stock_correction");
