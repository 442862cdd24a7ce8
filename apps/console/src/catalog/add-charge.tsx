// Adding a charge to a plan, or putting one in another's place: a charge does not change, so its successor begins as its copy.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { client, read, send, type Schema } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { FormBox, useForm } from '../components/forms/form.tsx';
import { fieldWords } from '../components/outcomes/problem-words.ts';
import { ChargeCosts, useCosts } from './charge-costs.tsx';
import { chargeBodyOf, draftOf, newChargeDraft, type ChargeDraft } from './charge-draft.ts';
import type { SentToPlan } from './charge-models.ts';
import { ChargeEditor } from './charge-editor.tsx';
import './charge-editor.css';

type Plan = Schema<'PlanWithFeatures'>;
type Charge = Schema<'Charge'>;

interface AddChargeProps {
  plan: Plan;
  /** The charge whose place the new one takes. */
  replaced?: Charge | undefined;
  onClose: () => void;
}

export function AddCharge({ plan, replaced, onClose }: AddChargeProps) {
  const queries = useQueryClient();
  const types: readonly ChargeDraft['type'][] = plan.type === 'HYBRID' ? ['USAGE', 'FIXED'] : [plan.type];
  const { data: features } = useQuery(read('/api/v1/features'));
  const form = useForm({
    ...(replaced === undefined && { name: `charge-${plan.id}` }),
    initial: { draft: replaced === undefined ? newChargeDraft(types[0] ?? 'USAGE') : draftOf(replaced) },
    async onSubmit({ draft }) {
      const path = { id: plan.id };
      const place = replaced !== undefined && { replaces: replaced.id };
      try {
        // What is missing in it is told by the API.
        const body = { ...chargeBodyOf(draft), ...place } as SentToPlan;
        await send(client.POST('/api/v1/plans/{id}/charges', { params: { path }, body }));
      } finally {
        await invalidate(queries, '/api/v1/plans/{id}', '/api/v1/plans');
      }
      onClose();
    },
  });
  const { draft } = form.values;
  const meters = (features?.data ?? []).filter(({ meter_id }) => meter_id !== null);
  const meter = meters.find(({ meter_id }) => meter_id === draft.meter_id);
  const [tried] = useCosts(draft, plan.currency, ['0']);
  const errorOf = (path: string): string | undefined =>
    form.errorAt(path) ?? form.errorAt(`charge.${path}`) ?? liveErrorOf(tried?.error ?? null, path);
  return (
    <Dialog
      title={replaced === undefined ? 'Add a charge' : `New price for ${replaced.display_name}`}
      size="62rem"
      onClose={onClose}
    >
      <FormBox form={form} submitLabel={replaced === undefined ? 'Add charge' : 'Set the new price'} onCancel={onClose}>
        <div className="charge-editor">
          <ChargeEditor
            draft={draft}
            onChange={(changed) => form.set('draft', changed)}
            currency={plan.currency}
            interval={plan.billing_interval}
            meters={meters.map(({ meter_id, name, unit }) => ({
              value: meter_id ?? '',
              label: unit === null ? name : `${name} (${unit})`,
            }))}
            types={replaced === undefined ? types : [replaced.type]}
            errorOf={errorOf}
          />
          <ChargeCosts
            draft={draft}
            currency={plan.currency}
            interval={plan.billing_interval}
            unit={meter?.unit ?? null}
          />
        </div>
        {replaced !== undefined && (
          <p className="muted">
            The price until now ends with the open period of each subscription. Invoices that are made do not change.
          </p>
        )}
      </FormBox>
    </Dialog>
  );
}

/** What is wrong with a value that is there; what is missing is only told when it is sent. */
function liveErrorOf(error: unknown, path: string): string | undefined {
  if (error === null) return undefined;
  const found = problemOf(error).errors?.find((each) => each.path === `charge.${path}`);
  return found === undefined || found.message === 'is required' ? undefined : fieldWords(found.message);
}
