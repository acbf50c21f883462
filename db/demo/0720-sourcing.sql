-- Rules that say which location ships what of an order
insert into sourcing.rule (id, "position", kind, location_id, created_at)
select demo.id('sourcing rule', r.n), r.n, r.kind, demo.id('location', r.location), demo.opening()
from (values (1, 'same_country', null), (2, 'priority', 1), (3, 'priority', 2), (4, 'split_least', null))
  r (n, kind, location);
