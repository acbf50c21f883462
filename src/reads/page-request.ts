import { apiError } from "../errors/api-error.ts";
import type { CursorList, Position } from "../graphql/cursor.ts";
import { decodeCursor } from "../graphql/cursor.ts";
import { checkPageSize, defaultPageSize } from "../graphql/page-size.ts";
import type { Followed } from "./followed.ts";
import type { Key } from "./keys.ts";
import type { Order, Orders } from "./orders.ts";
import { orderOfKey } from "./orders.ts";

/** A list, as far as its pages need it. */
export interface PagedList {
  /** Its name in cursors: the field, for example `Tag.products`. */
  list: string;
  /** The primary key, which orders the list unless another order is asked for. */
  key: Key;
  /** How it is followed in the order of the key, if it is. */
  followed: Followed | undefined;
  /** Other orders that it offers; undefined in versions whose lists have one. */
  orders: Orders | undefined;
}

/** The arguments of a page, as they are given. */
export interface RawPage {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  orderBy?: string | null | undefined;
}

/** What page is asked for. */
export interface PageRequest {
  size: number;
  /** Whether it is counted from the end. */
  isBackward: boolean;
  order: Order;
  after: Position | null;
  before: Position | null;
}

/** The order with this name, or that of the key. */
export const orderOf = ({ key, orders }: PagedList, name: string | null | undefined): Order =>
  (name == null ? undefined : orders?.get(name)) ?? orderOfKey(key);

/** What cursors of a list need to know in an order. */
export const cursorListOf = ({ list, followed }: PagedList, order: Order): CursorList => ({
  list,
  order: order.isDefault ? undefined : order.name,
  key: order.columns,
  followed: order.isDefault ? followed : undefined,
});

/**
 * Checks the arguments of a page.
 *
 * @throws BAD_USER_INPUT, PAGE_SIZE_EXCEEDED, CURSOR_INVALID
 */
export function readPage(list: PagedList, { first, last, after, before, orderBy }: RawPage): PageRequest {
  if (first != null && last != null)
    throw apiError("BAD_USER_INPUT", "`first` and `last` can't both be given: a page has one beginning.");
  const order = orderOf(list, orderBy);
  const decode = (cursor: string | null | undefined) =>
    cursor == null ? null : decodeCursor(cursorListOf(list, order), cursor);
  // Of what comes before an entry, the page that ends there
  const isBackward = last != null || (first == null && before != null && after == null);
  return {
    size: last != null ? checkPageSize(last, "last") : first != null ? checkPageSize(first) : defaultPageSize,
    isBackward,
    order,
    after: decode(after),
    before: decode(before),
  };
}
