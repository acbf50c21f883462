-- Documents of quotes and supplier orders
insert into erp.document (id, document_type_id, quote_id, document_number, deep_link_code, config, static,
  sent, created_at, updated_at)
select demo.id('quote document', q.n), demo.id('document_type', 7), q.id, v.number,
  md5('quote link ' || q.n),
  erp.quote_config(q.id, q.at::date) || jsonb_build_object('documentNumber', v.number), false,
  v.number is not null, q.at + interval '2 hours', null
from demo.quote q
cross join lateral (
  select case when q.state not in ('draft', 'open') then demo.number('Q-', q.n) end as number
) v
where q.n % 3 = 0
order by q.n;

insert into erp.document (id, document_type_id, supplier_order_id, document_number, deep_link_code, config,
  static, sent, created_at, updated_at)
select demo.id('supplier order document', s.n), demo.id('document_type', 8), s.id, v.number,
  md5('supplier order link ' || s.n),
  erp.supplier_order_config(s.id, s.at::date) || jsonb_build_object('documentNumber', v.number), false,
  v.number is not null, s.at + interval '1 hour', null
from demo.supplier_order s join erp.supplier_order o on o.id = s.id
cross join lateral (select case when s.state <> 'open' then o.number end as number) v
where s.n % 4 = 0 and s.state <> 'cancelled'
order by s.n;
