-- The idempotency key of an event that was rejected, as JSON has it, with its quotes; null where it has none. By a pattern: Postgres may not
-- take the event. Quotes inside of its texts are escaped, so that nothing else in it looks like this.

CREATE FUNCTION rejected_key(event text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substring(event, '"idempotency_key":("(?:[^"\\]|\\.)*")');
