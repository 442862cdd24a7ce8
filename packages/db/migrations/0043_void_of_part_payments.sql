-- An invoice that is paid in part is not void: its money would be for nothing.

-- Processes of the version before void one, since they know of no part payments, so Postgres refuses it for them.
CREATE FUNCTION refuse_void_of_payments() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'invoice % is not made void: % of it was paid', OLD.id, OLD.amount_paid
    USING ERRCODE = 'check_violation', HINT = 'take its payments back first';
END $$;
CREATE TRIGGER invoices_refuse_void_of_payments BEFORE UPDATE ON invoices FOR EACH ROW
  WHEN (NEW.status = 'VOID' AND OLD.status <> 'VOID' AND OLD.amount_paid > 0)
  EXECUTE FUNCTION refuse_void_of_payments();
