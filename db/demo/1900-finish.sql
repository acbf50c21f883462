-- Checking that the books are right
set constraints all immediate;
do $$
declare t regclass;
begin
  for t in select tgrelid::regclass from pg_trigger where tgname = 'touch_updated_at' loop
    execute format('alter table %s enable trigger touch_updated_at', t);
  end loop;
end
$$;
drop schema demo cascade;
