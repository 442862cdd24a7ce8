// Money of one currency: what was invoiced in this month, and what may be expected beside it.

import type { Answer } from '../api/client.ts';
import { formatAmount, formatDecimal } from '../text/decimals.ts';
import { Time } from '../components/page/time.tsx';

type Overview = Answer<'/api/v1/overview'>;
type Invoices = Overview['invoices'][number];
type Expected = NonNullable<Overview['expected']>;

export function Invoiced({ of: { currency, finalized_total: total, finalized_before: before } }: { of: Invoices }) {
  return (
    <div>
      <dt>Invoiced this month</dt>
      <dd>
        <span className="figure">{formatAmount(total, currency)}</span>
        <div className="figure-note">{formatAmount(before, currency)} in all of the month before</div>
      </dd>
    </div>
  );
}

export function ExpectedOf({ currency, expected }: { currency: Expected['currencies'][number]; expected: Expected }) {
  const { currency: code, drafts, open_periods: open, rebilled, total, left_out: leftOut } = currency;
  return (
    <div>
      <dt>Expected</dt>
      <dd>
        <span className="figure">{formatAmount(total, code)}</span>
        <div className="figure-note">Drafts {formatAmount(drafts, code)}</div>
        <div className="figure-note">Open periods that end this month {formatAmount(open, code)}</div>
        {Number(rebilled) !== 0 && (
          <div className="figure-note">Left by void invoices {formatAmount(rebilled, code)}</div>
        )}
        {leftOut > 0 && (
          <div className="figure-note">
            Without {formatDecimal(leftOut)} {leftOut === 1 ? 'draft or period that' : 'drafts and periods that'} cannot
            be computed
          </div>
        )}
        <div className="figure-note">
          As of <Time at={expected.ended_at} as="ago" />
        </div>
      </dd>
    </div>
  );
}
