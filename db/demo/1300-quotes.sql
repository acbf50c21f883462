-- Quotes
create table demo.quote as
select n, demo.id('quote', n) as id, demo.moment('quote', n, 60 * demo.scale()) as at,
  1 + demo.pick(n, 'quote customer', demo.customers()) as customer_n,
  case when n > 52 * demo.scale() then (array['draft', 'open', 'sent', 'accepted'])[1 + n % 4]
    else (array['accepted', 'declined', 'expired', 'accepted', 'sent'])[1 + n % 5] end as state
from generate_series(1, 60 * demo.scale()) n;
create table demo.quote_line as
select q.n * 16 + i.position as key, q.n as quote_n, i.position, p.n as product_n, p.label, p.number,
  p.tax_rate,
  round(p.gross * 0.95, 2) as unit_price,
    2 + demo.pick(q.n * 16 + i.position, 'quote quantity', 20) as quantity
from demo.quote q
cross join lateral generate_series(
  1, case when q.n % 30 = 2 then 13 else 1 + demo.pick(q.n, 'quote lines', 5) end
) as i (position)
join demo.stocked p
  on p.s = 1 + demo.pick(q.n * 16 + i.position, 'quote product', (select count(*) from demo.stocked))
union all
select n * 16 + 15, n, 15, null, 'Gravur nach Wunsch', 'engraving',
  case when n % 36 = 0 then 0 else 19 end, 8.5, 10
from demo.quote
where n % 6 = 0;
create index on demo.quote_line (quote_n);
analyze demo.quote_line;

insert into erp.quote (id, number, state, customer_id, sales_channel_id, currency_id, order_id, amount_net,
  amount_total, tax_status, valid_until,
  comment, shipping_address, billing_address, revision, sent_at, decline_reason, created_at, updated_at)
select q.id, demo.number('Q-', q.n), q.state, case when q.n % 20 <> 7 then c.id end,
  case when q.n % 25 <> 8 then demo.id('sales_channel', c.channel) end, demo.id('currency', 1),
  case
    when q.state = 'accepted'
      then (select o.id from demo.sales_order o
        where o.n = least(q.n::bigint * demo.orders() / (60 * demo.scale()) + 3,
    demo.orders())) end,
  case
    when q.n % 12 <> 5
      then (select sum(case when c.channel = 3
        and q.n % 3 = 1 then unit_price * quantity else demo.net(unit_price * quantity,
    tax_rate) end) from demo.quote_line l where l.quote_n = q.n) end,
    case
      when q.n % 12 <> 5 then (select sum(unit_price * quantity) from demo.quote_line l where l.quote_n = q.n)
    end,
  case
    when q.n % 12 <> 5
      then case when c.channel < 3 then 'gross' when q.n % 3 = 1 then 'tax-free' else 'net' end end,
    case when q.state <> 'draft' then q.at + interval '30 days' end,
  case when q.n % 4 = 1 then 'Mengenrabatt auf Anfrage' end,
  case when q.n % 3 = 1
    then demo.address(q.customer_n, (array['Germany', 'United Kingdom', 'France'])[c.channel]) end,
  case when q.n % 11 <> 3
    then demo.address(q.customer_n, (array['Germany', 'United Kingdom', 'France'])[c.channel]) end,
  1 + (q.n % 7 = 6)::integer,
  case when q.state not in ('draft', 'open') then q.at + interval '2 hours' end,
  case when q.state = 'declined' and q.n % 2 = 1 then 'Zu teuer' end, q.at,
    case when q.state <> 'draft' then least(q.at + interval '3 days', demo.today()) end
from demo.quote q join demo.customer c on c.n = q.customer_n
order by q.n;

insert into erp.quote_line_item (id, quote_id, product_id, type, identifier, label, description, position,
  quantity, unit_price, total_price,
  tax_rate, tax_category, exemption_code, discount_reason, unit_code, created_at, updated_at)
select demo.id('quote line', l.key), q.id,
  case when l.key % 60 <> 17 then demo.id('product', l.product_n) end,
  case when l.product_n is not null then 'product' when l.quote_n % 18 > 0 then 'custom' end, l.number,
    l.label,
  case when l.key % 5 = 1 then 'Lieferzeit zwei Wochen' end,
    row_number() over (partition by l.quote_n order by l.position), l.quantity,
  case when l.quote_n % 12 <> 5 then l.unit_price end,
    case when l.quote_n % 12 <> 5 then l.unit_price * l.quantity end,
    case when l.quote_n % 12 <> 5 then l.tax_rate end,
  case when l.quote_n % 12 <> 5 then case when l.tax_rate > 0 and l.key % 9 = 1 then 'S'
    when l.tax_rate = 0 then 'E' end end,
  case when l.quote_n % 12 <> 5 and l.tax_rate = 0 and l.quote_n % 2 = 0 then 'VATEX-EU-132' end,
  case when l.key % 13 = 1 then 'Mengenrabatt' end, case when l.key % 11 = 1 then 'H87' end, q.at,
      case when q.state <> 'draft' then least(q.at + interval '3 days', demo.today()) end
from demo.quote_line l join demo.quote q on q.n = l.quote_n
order by l.key;
