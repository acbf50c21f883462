with orders as materialized (
  select state, amount_total from api_unstable.orders
  where order_date_time > $1::timestamptz and order_date_time < $2::timestamptz
)
select json_build_object('data', json_build_object('orders', json_build_object(
  'aggregates', (
    select json_build_object('sum', json_build_object('amountTotal', coalesce(sum(amount_total), 0)),
      'max', json_build_object('amountTotal', max(amount_total))) from orders
  ),
  'groupedAggregates', (
    select coalesce(json_agg(json_build_object('keys', array[state],
      'sum', json_build_object('amountTotal', coalesce(total, 0))) order by state), '[]')
    from (select state, sum(amount_total) as total from orders group by state) g
  ))))
