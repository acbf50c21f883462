import { apiError } from "../errors/api-error.ts";
import type { CursorList, Position } from "../graphql/cursor.ts";
import { decodeCursor } from "../graphql/cursor.ts";
import { checkPageSize, defaultPageSize } from "../graphql/page-size.ts";
import type { FollowedList } from "./followed.ts";
import type { Key } from "./keys.ts";
import type { Order, Orders } from "./orders.ts";
import { createKeyOrder } from "./orders.ts";

/** The properties of a list that its pages depend on. */
export interface PagedList {
  /** Its name in cursors: its field, for example `Tag.products`. */
  list: string;
  /** The primary key, by which the list is sorted by default. */
  key: Key;
  /** Set if clients can follow the list in the order of the key. */
  followed: FollowedList | undefined;
  /** Other sort orders; undefined in versions whose lists have only one. */
  orders: Orders | undefined;
}

/** The arguments of a page, unchecked. */
export interface RawPage {
  first?: number | null | undefined;
  last?: number | null | undefined;
  after?: string | null | undefined;
  before?: string | null | undefined;
  orderBy?: string | null | undefined;
}

/** The checked arguments of a page. */
export interface PageRequest {
  size: number;
  /** Whether it is counted from the end. */
  isBackward: boolean;
  order: Order;
  after: Position | null;
  before: Position | null;
}

/** Returns the order with a name, or the default order. */
export const findOrder = ({ key, orders }: PagedList, name: string | null | undefined): Order =>
  (name == null ? undefined : orders?.get(name)) ?? createKeyOrder(key);

/** Returns the properties of a list and an order that cursors depend on. */
export const createCursorList = ({ list, followed }: PagedList, order: Order): CursorList => ({
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
  const order = findOrder(list, orderBy);
  const decode = (cursor: string | null | undefined) =>
    cursor == null ? null : decodeCursor(createCursorList(list, order), cursor);
  // With `before` alone, the page ends at that entry
  const isBackward = last != null || (first == null && before != null && after == null);
  return {
    size: last != null ? checkPageSize(last, "last") : first != null ? checkPageSize(first) : defaultPageSize,
    isBackward,
    order,
    after: decode(after),
    before: decode(before),
  };
}
