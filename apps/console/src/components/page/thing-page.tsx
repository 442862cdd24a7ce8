import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { problemOf } from '../../api/problem.ts';
import { Loaded } from '../outcomes/loaded.tsx';
import { ProblemBox } from '../outcomes/problem-box.tsx';
import { Page } from './page.tsx';

interface ThingPageProps<Data> {
  query: UseQueryResult<Data, unknown>;
  /** What it is: `Invoice`. */
  of: string;
  /** The title until the thing is there, where it is not what the thing is. */
  title?: string;
  /** The way back up, which is there whether the thing is or not. */
  above: ReactNode;
  /** A `Page`. */
  children: (data: Data) => ReactNode;
}

/** The page of one thing. While it is read, or where it is not there, it has a title and the way back all the same. */
export function ThingPage<Data>({ query, of, title = of, above, children }: ThingPageProps<Data>) {
  const { data, error } = query;
  if (data === undefined) {
    const isGone = error !== null && problemOf(error).code === 'not_found';
    return (
      <Page title={isGone ? `No such ${of.toLowerCase()}` : title} above={above}>
        <Loaded query={query} rows={12}>
          {() => null}
        </Loaded>
      </Page>
    );
  }
  return (
    <>
      {error !== null && (
        <div className="page-problem">
          <ProblemBox error={error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {children(data)}
    </>
  );
}
