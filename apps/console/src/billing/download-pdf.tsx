import { Button } from '@mantine/core';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { Icon } from '../components/page/icons.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { download } from '../text/download.ts';

/** Keeps an invoice as the PDF that Weir makes of it: as it is, like the page around. */
export function DownloadPdf({ invoice }: { invoice: Schema<'InvoiceWithLines'> }) {
  const [isReading, setIsReading] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async () => {
    setError(undefined);
    setIsReading(true);
    try {
      const params = { path: { id: invoice.id }, query: { as: 'now' } } as const;
      const file = await send(client.GET('/api/v1/invoices/{id}/pdf', { params, parseAs: 'blob' }));
      download(`${(invoice.invoice_number ?? 'draft').replaceAll('/', '-')}.pdf`, file);
    } catch (problem) {
      setError(problem);
    } finally {
      setIsReading(false);
    }
  };
  return (
    <>
      <Button variant="default" leftSection={<Icon name="download" />} loading={isReading} onClick={() => void run()}>
        Download PDF
      </Button>
      <ProblemBox error={error} />
    </>
  );
}
