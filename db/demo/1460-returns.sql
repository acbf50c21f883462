-- Returns: their lines, and how far they are. Those without movements come last: requests, refusals, parcels
-- that nobody announced
create table demo.returned as
select l.key, r.n as return_n, l.return_order_id, l.product_n, l.batch, l.order_n,
  row_number() over (partition by r.n order by l.key) as position, l.quantity as arriving,
  -- Every third line of a part was announced with one unit more
  l.quantity + case when not r.is_complete and r.n % 3 = 2 and o.shipped > l.quantity then 1 else 0 end
    as quantity,
  r.state in ('approved', 'in_progress', 'completed') as has_arrived, r.state = 'completed' as is_put_away,
  r.state, r.n % 2 = 0 and r.newest > 12 or r.newest > 20 as is_closed
from demo.return_line l join demo.return_order r on r.n = l.return_order_n join demo.line o on o.key = l.key;
alter table demo.returned add primary key (key);

insert into demo.return_order (n, newest, order_n, at, is_complete, customer_n, id, state)
select (select max(r.n) from demo.return_order r) + row_number() over (order by o.n), 0, o.n,
  least(o.at + interval '12 days', demo.today()), true, o.customer_n, demo.id('return order', o.n),
  (array['refused', 'cancelled', 'requested', 'unknown'])[1 + row_number() over (order by o.n) % 4]
from (
  select s.* from demo.sales_order s
  where s.state = 'completed' and not s.wants_return and not s.is_digital and exists (
    select from demo.line l where l.order_n = s.n and l.slot = 1 and l.type = 'product' and l.shipped > 0
      and not l.is_gone)
  order by s.n desc limit 24
) o;

insert into erp.return_order (id, number, state, order_id, customer_id, created_at)
select r.id, demo.number('R-', r.n), case r.state when 'unknown' then 'requested' else r.state end,
  case when r.state <> 'unknown' then demo.id('order', r.order_n) end,
  case when r.state <> 'unknown' then demo.id('customer', r.customer_n) end, r.at
from demo.return_order r where r.newest = 0 order by r.n;

insert into demo.returned (key, return_n, return_order_id, product_n, batch, order_n, position, arriving,
  quantity, has_arrived, is_put_away, state, is_closed)
select l.key, r.n, r.id, l.product_n, null, l.order_n, 1, 0, 1, false, false, r.state, false
from demo.return_order r join demo.line l on l.order_n = r.order_n and l.slot = 1 where r.newest = 0;

insert into erp.return_order_line_item (id, return_order_id, fulfillment_line_item_id, order_line_item_id,
  product_id, batch_id, quantity, reason, wanted_outcome, received_quantity, restocked_quantity,
  disposed_quantity, missing_quantity, created_at, updated_at)
select demo.id('return line', row_number() over (order by d.return_n, d.position)), d.return_order_id,
  case when d.state <> 'unknown' then (
    select f.id from erp.fulfillment_order_line_item a
    join erp.fulfillment_line_item f on f.fulfillment_order_line_item_id = a.id and f.quantity >= d.quantity
    join erp.fulfillment p on p.id = f.fulfillment_id and p.state = 'Fulfilled'
    where a.destination_order_line_item_id = demo.id('order line', d.key) order by f.id limit 1
  ) end,
  case when d.state <> 'unknown' then demo.id('order line', d.key) end, demo.id('product', d.product_n),
  demo.batch_id(d.product_n, d.batch), d.quantity,
  case when d.return_n % 7 > 0 then demo.one_of(d.key, 'return reason', array['changed_mind', 'withdrawal',
    'does_not_fit', 'wrong_item', 'damaged', 'defective']) end,
  case when d.return_n % 5 > 0 then demo.one_of(d.key, 'outcome', array['refund', 'refund', 'replacement',
    'repair', 'credit']) end,
  case when d.has_arrived then d.arriving else 0 end,
  case when d.is_put_away then d.arriving - x.disposed else 0 end,
  case when d.is_put_away then x.disposed else 0 end,
  case when d.is_put_away and d.is_closed then d.quantity - d.arriving else 0 end, r.at,
  case when d.has_arrived then r.at + interval '2 days' end
from demo.returned d join demo.return_order r on r.n = d.return_n
left join lateral (
  select l.disposed from demo.receipt_line l
  where l.return_order_id = d.return_order_id and l.position = d.position
) x on true
order by d.return_n, d.position;

-- Products that were deleted meanwhile
update erp.return_order_line_item i set product_id = null
from demo.return_order r where r.id = i.return_order_id and r.state = 'refused' and r.n % 8 < 4;

update erp.goods_receipt_line_item g
set return_order_line_item_id = l.id,
  disposed_quantity = case when r.state = 'completed' then r.disposed else 0 end
from demo.receipt_line r
join (
  select i.id, i.return_order_id, row_number() over (partition by i.return_order_id order by i.id) as position
  from erp.return_order_line_item i
) l on l.return_order_id = r.return_order_id and l.position = r.position
where g.id = r.id and r.type = 'Customer';

-- What they say: states, dates, notes
update erp.return_order o
set state = s.state, requested_at = r.at, withdrawal_date = case when r.n % 3 = 1 then r.at::date end,
  reference = case when r.n % 4 = 1 then 'RMA-' || 5000 + r.n end,
  comment = case when r.n % 6 = 2 then demo.one_of(r.n, 'return comment', array['Originalverpackung fehlt',
    'Customer sends it with the other parcel', 'Emballage ouvert']) end,
  refusal_reason = case when s.state = 'refused' then 'The time to return it has passed.' end,
  closed_at = case when s.state = 'closed' then r.at + interval '4 days' end,
  replacement_order_id = case when r.n % 9 = 4 and r.order_n < demo.orders() - 3
    then demo.id('order', r.order_n + 2) end,
  updated_at = case when s.state <> 'requested' then r.at + interval '2 days' end
from demo.return_order r
cross join lateral (
  select case
    when r.newest = 0 then case r.state when 'unknown' then 'requested' else r.state end
    when r.state in ('none', 'draft') then case when r.n % 2 = 0 then 'requested' else 'approved' end
    when r.state = 'created' then 'approved'
    when r.state = 'completed' and (r.n % 2 = 0 and r.newest > 12 or r.newest > 20) then 'closed'
    when exists (select from demo.returned d where d.return_n = r.n and d.arriving < d.quantity)
      then 'received_partially'
    else 'received' end as state
) s
where o.id = r.id;

update erp.sales_order_line_item l set returned_quantity = c.quantity
from (
  select i.order_line_item_id as id,
    sum(erp.claimed_units(o.state, i.quantity, i.received_quantity)) as quantity
  from erp.return_order_line_item i join erp.return_order o on o.id = i.return_order_id
  where i.order_line_item_id is not null group by 1
) c where l.id = c.id;
update erp.sales_order o set delivery_state = 'shipped'
from demo.return_order r
where o.id = demo.id('order', r.order_n) and o.delivery_state in ('returned', 'returned_partially')
  and r.state in ('none', 'draft', 'created');

-- Refunds of what is closed, and their credit notes
update erp.return_order_line_item i
set refunded_quantity = i.received_quantity,
  refund_amount = coalesce(erp.share_of(p.amount, i.received_quantity, l.quantity), 0)
from erp.return_order o
join demo.return_order r on r.id = o.id and r.n % 3 > 0
join erp.sales_order_line_item l on l.order_id = o.order_id
join lateral erp.paid_lines(o.order_id) p on p.line_id = l.id
where o.state = 'closed' and i.return_order_id = o.id and l.id = i.order_line_item_id
  and i.received_quantity > 0;
insert into erp.return_order_charge (return_order_id, order_line_item_id, refund_amount)
select o.id, l.id, p.amount
from erp.return_order o join erp.sales_order_line_item l on l.order_id = o.order_id
join lateral erp.paid_lines(o.order_id) p on p.line_id = l.id and p.amount > 0
where o.state = 'closed' and l.type = 'custom' and l.total_price > 0;
update erp.return_order o
set refund_amount = a.amount, refunded_at = o.closed_at
from (
  select r.id, coalesce((
      select sum(i.refund_amount) from erp.return_order_line_item i where i.return_order_id = r.id), 0)
    + coalesce((
      select sum(c.refund_amount) from erp.return_order_charge c where c.return_order_id = r.id), 0) as amount
  from erp.return_order r
) a where a.id = o.id and a.amount > 0;
insert into erp.return_order_document (return_order_id, document_id)
select o.id, d.id
from erp.return_order o join erp.document d on d.order_id = o.order_id
join erp.document_type t on t.id = d.document_type_id and t.technical_name = 'credit_note'
where o.refund_amount > 0;
