-- Numbers and issue dates of invoices never go back, also where the time zone of an organization moves to the west.

ALTER TABLE invoice_numbers
  -- The latest issue date of this year's invoices.
  ADD COLUMN issue_date date;
UPDATE invoice_numbers AS numbers SET issue_date = issued.latest
FROM (
  SELECT organization_id, extract(year FROM issue_date)::integer AS year, max(issue_date) AS latest
  FROM invoices WHERE issue_date IS NOT NULL GROUP BY 1, 2
) AS issued
WHERE issued.organization_id = numbers.organization_id AND issued.year = numbers.year;
