-- Runs after every migration: what follows from the API views, and from what is declared to be an event, is never
-- forgotten. The first migrations come before it.
do $$
begin
  if to_regprocedure('api_meta.derive()') is not null then
    perform api_meta.derive();
  end if;
  if to_regprocedure('events.derive_announcements()') is not null then
    perform events.derive_announcements();
  end if;
end
$$;
