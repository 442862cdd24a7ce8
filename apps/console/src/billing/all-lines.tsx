// The lines of an invoice that is there: those that came with it, and on demand the others, part by part.

import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { pace } from '../api/pace.ts';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { formatDecimal } from '../text/decimals.ts';
import { InvoiceLines } from './invoice-lines.tsx';

interface AllLinesProps {
  invoice: Schema<'InvoiceWithLines'>;
  zone: string;
  onRemove: ((line: Schema<'InvoiceLine'>) => void) | undefined;
}

export function AllLines({ invoice, zone, onRemove }: AllLinesProps) {
  const { id, status, currency, issue_date: issued, lines_total: total, lines_next_cursor: second } = invoice;
  const [isAsked, setAsked] = useState(false);
  const isDraft = status === 'DRAFT';
  const others = useInfiniteQuery({
    queryKey: ['/api/v1/invoices/{id}/lines', id, status, second],
    initialPageParam: second ?? '',
    queryFn: ({ pageParam: cursor, signal }) =>
      send(client.GET('/api/v1/invoices/{id}/lines', { params: { path: { id }, query: { cursor } }, signal })),
    getNextPageParam: ({ meta }) => meta.next_cursor,
    enabled: isAsked && second !== undefined,
    // Of a draft they are computed anew, as the first ones are.
    refetchInterval: isDraft ? () => pace(3_000) : false,
  });
  const { data, error, hasNextPage, isFetching } = others;
  const lines = [...invoice.lines, ...(data?.pages ?? []).flatMap((page) => page.data)];
  const hasMore = data === undefined ? second !== undefined : hasNextPage;
  return (
    <>
      <InvoiceLines invoice={{ currency, lines }} zone={zone} invoiceId={id} onRemove={onRemove} />
      <ProblemBox error={error} onRetry={() => void others.refetch()} />
      {hasMore && (
        <div className="with-button">
          <Button
            variant="default"
            loading={isFetching}
            onClick={() => (data === undefined ? setAsked(true) : void others.fetchNextPage())}
          >
            More lines
          </Button>
          <span className="muted">
            The first {formatDecimal(lines.length)} of {formatDecimal(total)} lines.
            {issued !== null && (
              <>
                {' '}
                All of them are in “Lines as CSV” of{' '}
                <Link to="/invoices" search={{ by: 'issue', from: issued, to: issued }}>
                  Invoices
                </Link>
                .
              </>
            )}
          </span>
        </div>
      )}
    </>
  );
}
