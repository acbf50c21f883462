-- Keys that sign heads of reports
-- Nobody may trust them: they are examples of RFC 8037 and RFC 8032, and everybody knows their secrets
insert into valuation.signing_key (id, public_key, secret, created_at, retired_at)
select demo.id('valuation key', d.n), d.public_key, d.secret, demo.opening() + d.n * interval '300 days',
  case when d.secret is null then demo.opening() + (d.n + 1) * interval '300 days' end
from (values
  (1, 'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw', null),
  (2, '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
    'MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g')
) d (n, public_key, secret);

-- The heads are signed after this, outside of Postgres
create sequence demo.head_number;
create function demo.next_head_id() returns uuid language sql volatile security definer
return demo.id('valuation head', nextval('demo.head_number'));
alter table valuation.head alter id set default demo.next_head_id();
grant usage on schema demo to service_keeper;
grant execute on function demo.next_head_id() to service_keeper;
