-- Topics whose scope is not the one that reads their subject, or whose subject has no view any more; scopes
-- that open the log without a topic for them, and topics whose scope doesn't open it.
-- Remedy: give the topic the scope of its subject's view, in db/fixtures/events/topics.sql, and the view
-- api_unstable.events the scopes of all topics.
select t.name as object, t.scope
from events.topic t join events.subject s on s.type = t.subject_type
where t.scope
  <> all (array(
    select api_meta.view_tag(to_regclass(format('api_unstable.%I', s.view_name)), 'requiresScopes')
  ))
union all
select coalesce(t.scope, v.scope), 'api_unstable.events'
from (select distinct scope from events.topic where subscribable) t
full join (
  select regexp_split_to_table(tag, ' +') as scope
  from api_meta.view_tag('api_unstable.events', 'requiresScopes') tag
) v on v.scope = t.scope
where t.scope is null or v.scope is null;
