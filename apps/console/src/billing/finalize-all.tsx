import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { client, send, type Schema } from '../api/client.ts';
import { invalidate } from '../api/queries.ts';
import { Question } from '../components/dialogs/question.tsx';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { OF_INVOICES } from './invoice-dialogs.ts';

/** Finalizes the drafts that are on a page, in the order of their periods. */
export function FinalizeAll({ drafts }: { drafts: readonly Schema<'Invoice'>[] }) {
  // What was asked about is what is sent: drafts that come meanwhile were not seen.
  const [asked, setAsked] = useState<string[]>();
  // While they are looked at, the run may have finalized some.
  const ids = drafts.filter(({ status }) => status === 'DRAFT').map(({ id }) => id);
  return (
    <>
      {ids.length >= 2 && (
        <Button variant="default" onClick={() => setAsked(ids)}>
          Finalize these {ids.length}
        </Button>
      )}
      {asked !== undefined && <FinalizeDialog ids={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function FinalizeDialog({ ids, onClose }: { ids: string[]; onClose: () => void }) {
  const queries = useQueryClient();
  const [became, setBecame] = useState<string[]>();
  const finalize = async () => {
    const { data } = await send(client.POST('/api/v1/invoices/finalize', { body: { ids } }));
    await invalidate(queries, ...OF_INVOICES);
    setBecame(wordsOf(data));
  };
  if (became === undefined)
    return (
      <Dialog title={`Finalize these ${ids.length} drafts now?`} onClose={onClose}>
        <Question label={`Finalize these ${ids.length}`} onConfirm={finalize} onCancel={onClose}>
          Each gets its number, credits are drawn, and its amounts never change again. What comes in later for its
          period is on the next invoice.
        </Question>
      </Dialog>
    );
  return (
    <Dialog title="What became of the drafts" onClose={onClose}>
      <div className="dialog-text" role="status">
        {became.map((words) => (
          <p key={words}>{words}</p>
        ))}
      </div>
      <div className="dialog-actions">
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

interface Became {
  outcome: 'finalized' | 'deleted' | 'earlier_draft' | 'not_computed' | 'not_reached' | 'invoice_not_draft';
  not_computed?: Schema<'NotComputed'>;
}

type Outcome = Became['outcome'];

const WORDS: Record<Outcome, string> = {
  finalized: 'finalized',
  deleted: 'gone: nothing was to be billed',
  earlier_draft: 'left a draft: an earlier draft of the subscription has to be finalized first',
  not_computed: 'left a draft: it cannot be computed',
  not_reached: 'left a draft: together they were too many for one time, finalize them next',
  invoice_not_draft: 'no draft any more: finalized meanwhile',
};

/** How many came to what, and why some could not be computed. */
function wordsOf(data: readonly Became[]): string[] {
  const counts = (Object.keys(WORDS) as Outcome[]).flatMap((each) => {
    const count = data.filter(({ outcome }) => outcome === each).length;
    return count === 0 ? [] : [`${count} ${WORDS[each]}.`];
  });
  return [...counts, ...new Set(data.flatMap(({ not_computed: why }) => why?.detail ?? []))];
}
