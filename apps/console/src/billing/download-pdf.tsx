import { Button } from '@mantine/core';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { Icon } from '../components/page/icons.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { download } from '../text/download.ts';

/** Keeps an invoice as the PDFs that Weir makes of it: as it is, like the page around, and one that was issued as it was then. */
export function DownloadPdfs({ invoice }: { invoice: Schema<'InvoiceWithLines'> }) {
  const name = invoice.invoice_number?.replaceAll('/', '-');
  return (
    <>
      <DownloadPdf id={invoice.id} as="now" label="Download PDF" name={name ?? 'draft'} />
      {name !== undefined && (
        <DownloadPdf id={invoice.id} as="issued" label="PDF as issued" name={`${name}-as-issued`} />
      )}
    </>
  );
}

interface DownloadPdfProps {
  id: string;
  as: 'now' | 'issued';
  label: string;
  /** Of the file. */
  name: string;
}

function DownloadPdf({ id, as, label, name }: DownloadPdfProps) {
  const [isReading, setIsReading] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async () => {
    setError(undefined);
    setIsReading(true);
    try {
      const params = { path: { id }, query: { as } };
      const file = await send(client.GET('/api/v1/invoices/{id}/pdf', { params, parseAs: 'blob' }));
      download(`${name}.pdf`, file);
    } catch (problem) {
      setError(problem);
    } finally {
      setIsReading(false);
    }
  };
  return (
    <>
      <Button variant="default" leftSection={<Icon name="download" />} loading={isReading} onClick={() => void run()}>
        {label}
      </Button>
      <ProblemBox error={error} />
    </>
  );
}
